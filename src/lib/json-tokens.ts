// The tokens of JSON (RFC 8259 §2, §6, §7), read from bytes one after another. Apart from the grammar in strict-json.ts,
// so that there each construct reads as its railroad diagram.

import { Buffer } from 'node:buffer';
import { decodeUtf8, pieceEnd } from './utf8.ts';

/** Each run of digits is bounded: a longer one shows as a digit after the number. */
const NUMBER = /-?(?:0|[1-9][0-9]{0,1023})(?:\.[0-9]{1,1024})?(?:[eE][+-]?[0-9]{1,1024})?/y;
export const DIGITS_MAX = 1_024;
/** Characters of the longest number, and then some. */
const NUMBER_LENGTH = 4_096;

const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9A-Fa-f]{4}))/y;

/** What the one-letter escapes stand for; `"`, `\` and `/` stand for themselves. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

interface TokenSettings {
  /** Characters of a string as written, without its quotes. */
  readonly tokenLength: number;
  /** Characters after which `reach` asks for a pause. */
  readonly sliceLength: number;
}

/** Bytes that are decoded at a time; the text of a whole document would be put together in one long go. */
const PIECE_BYTES = 131_072;

/** Reads forward through valid UTF-8, in time linear in what it reads. A token that cannot be read is undefined. */
export class JsonTokens {
  readonly #bytes: Uint8Array;
  readonly #settings: TokenSettings;
  /** The decoded part of the document: from the last pause on, and as far ahead as one token can go. */
  #text = '';
  #textAtByte = 0;
  #decodedBytes = 0;
  #at = 0;
  #sliceEnd = 0;
  #fault = '';

  constructor(bytes: Uint8Array, settings: TokenSettings) {
    this.#bytes = bytes;
    this.#settings = settings;
    this.#beginSlice();
  }

  /** The broken rule and its byte offset, '' while none is broken. */
  get fault(): string {
    return this.#fault;
  }

  /** Where the next token is read, for `refuse` before the next pause. */
  get at(): number {
    return this.#at;
  }

  /** Skips the blanks before a token. False when the slice ends first: the caller pauses, and asks again. */
  reach(): boolean {
    while (this.#at < this.#sliceEnd && isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1;
    if (this.#at < this.#sliceEnd) return true;
    this.#beginSlice();
    return false;
  }

  /** The next character, '' at the end. */
  peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** Steps over `character` if it is next. */
  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Steps over `word` if it is next. */
  takeWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  /** The digits as written, so that no precision is lost. */
  readNumber(): string | undefined {
    NUMBER.lastIndex = this.#at;
    const lexeme = NUMBER.exec(this.#text)?.[0];
    if (lexeme === undefined) return this.refuse('expected a value');
    if (lexeme.length >= DIGITS_MAX && isDigit(this.#text.charCodeAt(this.#at + lexeme.length)))
      return this.refuse(`number with more than ${DIGITS_MAX} digits`);
    this.#at += lexeme.length;
    return lexeme;
  }

  /** The decoded string whose opening quote is next. Surrogates must come in pairs, else it would not be UTF-8 text. */
  readString(): string | undefined {
    const opening = this.#at;
    const end = Math.min(this.#text.length, opening + 1 + this.#settings.tokenLength);
    let decoded = '';
    let copied = opening + 1;
    this.#at = copied;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (this.#at >= end) return this.#refuseOpenString(opening);
      if (code === BACKSLASH) {
        decoded += this.#text.slice(copied, this.#at);
        const escaped = this.#readEscape();
        if (escaped === undefined) return undefined;
        decoded += escaped;
        copied = this.#at;
        if (this.#at > end) return this.#refuseOpenString(opening);
      } else if (code >= 0x20) this.#at += 1;
      else return this.refuse('control character in a string');
    }
    decoded += this.#text.slice(copied, this.#at);
    this.#at += 1;
    return decoded.isWellFormed() ? decoded : this.refuse('lone surrogate in the string', opening);
  }

  /** Records the fault, with the byte offset of index `at`. Nothing is read after it. */
  refuse(rule: string, at: number = this.#at): undefined {
    this.#fault = `${rule} at byte ${this.#textAtByte + Buffer.byteLength(this.#text.slice(0, at))}`;
  }

  /** A token begins within the slice, and must lie in the text to its end. */
  #beginSlice(): void {
    const { sliceLength, tokenLength } = this.#settings;
    const needed = sliceLength + tokenLength + NUMBER_LENGTH;
    if (this.#text.length - this.#at < needed && this.#decodedBytes < this.#bytes.length) {
      this.#textAtByte += Buffer.byteLength(this.#text.slice(0, this.#at));
      this.#text = this.#text.slice(this.#at);
      this.#at = 0;
      while (this.#text.length < needed && this.#decodedBytes < this.#bytes.length) this.#text += this.#decodePiece();
    }
    this.#sliceEnd = this.#at + sliceLength;
  }

  #decodePiece(): string {
    const start = this.#decodedBytes;
    this.#decodedBytes = pieceEnd(this.#bytes, start, PIECE_BYTES);
    return decodeUtf8(this.#bytes.subarray(start, this.#decodedBytes)) ?? '';
  }

  #refuseOpenString(opening: number): undefined {
    if (this.#at >= this.#text.length) return this.refuse('unterminated string');
    return this.refuse(`string longer than ${this.#settings.tokenLength} characters`, opening);
  }

  #readEscape(): string | undefined {
    ESCAPE.lastIndex = this.#at;
    const match = ESCAPE.exec(this.#text);
    if (match === null) return this.refuse('unknown escape in a string');
    const [whole, letter, hex] = match;
    this.#at += whole.length;
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return ESCAPED.get(letter ?? '') ?? letter;
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
