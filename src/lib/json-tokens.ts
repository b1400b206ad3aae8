// The tokens of JSON (RFC 8259 §2, §6, §7), read from a text one after another. Apart from the grammar in
// strict-json.ts, so that there each construct reads as its railroad diagram.

import { Buffer } from 'node:buffer';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
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

/** Reads forward through a text, in time linear in what it reads. A token that cannot be read is undefined. */
export class JsonTokens {
  readonly #text: string;
  #at = 0;
  #fault = '';

  constructor(text: string) {
    this.#text = text;
  }

  /** The broken rule and its byte offset, '' while none is broken. */
  get fault(): string {
    return this.#fault;
  }

  /** Where the next token is read: an index into the text, for `refuse`. */
  get at(): number {
    return this.#at;
  }

  /** Skips blanks and returns the next character, '' at the end. */
  peek(): string {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }

  /** Skips blanks and steps over `character` if it is next. */
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
    this.#at += lexeme.length;
    return lexeme;
  }

  /** The decoded string whose opening quote is next. Surrogates must come in pairs, else it would not be UTF-8 text. */
  readString(): string | undefined {
    const opening = this.#at;
    let decoded = '';
    let copied = opening + 1;
    this.#at = copied;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        decoded += this.#text.slice(copied, this.#at);
        const escaped = this.#readEscape();
        if (escaped === undefined) return undefined;
        decoded += escaped;
        copied = this.#at;
      } else if (code >= 0x20) this.#at += 1;
      else return this.refuse(Number.isNaN(code) ? 'unterminated string' : 'control character in a string');
    }
    decoded += this.#text.slice(copied, this.#at);
    this.#at += 1;
    return decoded.isWellFormed() ? decoded : this.refuse('lone surrogate in the string', opening);
  }

  /** Records the fault, with the byte offset of index `at`. Nothing is read after it. */
  refuse(rule: string, at: number = this.#at): undefined {
    this.#fault = `${rule} at byte ${Buffer.byteLength(this.#text.slice(0, at))}`;
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
