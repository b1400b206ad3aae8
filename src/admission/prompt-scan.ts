// Goes through the bytes of a chat request once and tallies what makes its size. Any byte can be the last one before a
// pause, so that the largest body stops nobody; nothing is built, however many messages there are.

import type { Buffer } from 'node:buffer';
import { isBlank, plainEnd } from '../lib/json-bytes.ts';
import { escapedBytes } from '../lib/json-escape.ts';
import { BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COLON, COMMA, QUOTE } from '../lib/json-marks.ts';

/** Containers that hold what counts. A tool result holds parts in a part; nothing that either dialect knows lies deeper. */
type Place = 'root' | 'messages' | 'message' | 'content' | 'part' | 'innerContent' | 'innerPart';

const LISTS: ReadonlySet<Place> = new Set<Place>(['messages', 'content', 'innerContent']);

/** By the name under which it stands, empty in a list: the container that is looked into there. */
const INSIDE: Readonly<Record<Place, ReadonlyMap<string, Place>>> = {
  root: new Map<string, Place>([
    ['messages', 'messages'],
    ['system', 'content'],
  ]),
  messages: new Map([['', 'message']]),
  message: new Map([['content', 'content']]),
  content: new Map([['', 'part']]),
  part: new Map([['content', 'innerContent']]),
  innerContent: new Map([['', 'innerPart']]),
  innerPart: new Map(),
};

/** The names under which a string is text. */
const TEXTS: Readonly<Record<Place, ReadonlySet<string>>> = {
  root: new Set(['system']),
  messages: new Set(),
  message: new Set(['content']),
  content: new Set(),
  part: new Set(['text', 'content']),
  innerContent: new Set(),
  innerPart: new Set(['text']),
};

/** Part types of OpenAI's chat and responses dialects and of Anthropic's, in their quotes. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['"image_url"', '"input_image"', '"image"']);
/** Longest of them. */
const TYPE_MAX_BYTES = 13;

/** `max_completion_tokens` with each byte as an escape, in quotes. */
const NAME_MAX_BYTES = 2 + 6 * 21;

export interface Tally {
  textBytes: number;
  images: number;
  messages: number;
}

/** The root's own values; of two members of one name the last counts, as in engines' parsers (T9). */
export interface RootValues {
  /** Bytes of the JSON of `tools` as sent. */
  toolBytes: number;
  /** Written values, at most 4,096 bytes of each, which is more than a valid number has. */
  readonly counts: Map<string, string>;
}

const COUNTS: ReadonlySet<string> = new Set(['max_completion_tokens', 'max_tokens', 'n']);
/** A short bound would be a way around: engines take `20.000…` for 20, however many zeros there are. */
const COUNT_MAX_BYTES = 4_096;

type Reading = 'nothing' | 'name' | 'text' | 'string' | 'scalar';

export class PromptScan {
  readonly values: RootValues = { toolBytes: 0, counts: new Map() };
  messages: Tally = nothing();
  system: Tally = nothing();
  readonly #json: Buffer;
  #at = 0;
  /** The open containers that are looked into, outermost first. */
  readonly #places: Place[] = [];
  /** Containers open within one that is passed over. */
  #skipped = 0;
  /** Of the member that is being read; empty in a list. */
  #name = '';
  #isNameNext = false;
  /** Where the value or the name begins that is being read. */
  #startAt = 0;
  #reading: Reading = 'nothing';
  #tally: Tally = this.messages;

  /** `json` is one valid object. */
  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Up to the byte `end`, or a few bytes more. */
  readTo(end: number): void {
    while (this.#at < end) {
      if (this.#reading === 'scalar') this.#readScalar(end);
      else if (this.#reading !== 'nothing') this.#readString(end);
      else if (this.#skipped > 0) this.#skip(this.#json[this.#at]);
      else this.#readMark(this.#json[this.#at]);
    }
  }

  #readMark(byte: number | undefined): void {
    const place = this.#places.at(-1);
    if (byte === QUOTE && this.#isNameNext) this.#begin('name');
    else if (byte === BRACE_END || byte === BRACKET_END) this.#leave();
    else if (byte === COLON || byte === COMMA || isBlank(byte)) this.#pass(byte, place);
    else if (place === undefined) this.#enter('root');
    else this.#beginValue(byte, place);
  }

  #pass(byte: number | undefined, place: Place | undefined): void {
    this.#at += 1;
    if (byte === COLON) this.#isNameNext = false;
    if (byte === COMMA) this.#isNameNext = place !== undefined && !LISTS.has(place);
  }

  #beginValue(byte: number | undefined, place: Place): void {
    if (place === 'root') this.#beginMember();
    if (place === 'messages') this.messages.messages += 1;
    if (byte === QUOTE) this.#begin(TEXTS[place].has(this.#name) ? 'text' : 'string');
    else if (byte !== BRACE && byte !== BRACKET) this.#begin('scalar');
    else {
      const inside = INSIDE[place].get(this.#name);
      if (inside !== undefined && LISTS.has(inside) === (byte === BRACKET)) this.#enter(inside);
      else {
        this.#startAt = this.#at;
        this.#skip(byte);
      }
    }
  }

  #beginMember(): void {
    if (this.#name === 'messages') this.#tally = this.messages = nothing();
    if (this.#name === 'system') this.#tally = this.system = nothing();
  }

  #begin(reading: Reading): void {
    this.#reading = reading;
    this.#startAt = this.#at;
    this.#at += 1;
  }

  #enter(place: Place): void {
    this.#places.push(place);
    this.#name = '';
    this.#isNameNext = !LISTS.has(place);
    this.#at += 1;
  }

  /** The container that ends here has told all already. */
  #leave(): void {
    this.#places.pop();
    this.#isNameNext = false;
    this.#name = '';
    this.#at += 1;
  }

  #skip(byte: number | undefined): void {
    if (byte === QUOTE) {
      // The value that counts began further up.
      this.#reading = 'string';
      this.#at += 1;
      return;
    }
    this.#at += 1;
    if (byte === BRACE || byte === BRACKET) this.#skipped += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) {
      this.#skipped -= 1;
      if (this.#skipped === 0) this.#endValue();
    }
  }

  #readScalar(end: number): void {
    while (this.#at < end && !endsScalar(this.#json[this.#at])) this.#at += 1;
    if (this.#at >= end && this.#at < this.#json.length) return;
    this.#reading = 'nothing';
    this.#endValue();
  }

  /** On to the closing quote, or to `end`. */
  #readString(end: number): void {
    const json = this.#json;
    const isText = this.#reading === 'text';
    let at = this.#at;
    let bytes = 0;
    for (;;) {
      const plain = plainEnd(json, at, end);
      bytes += plain - at;
      at = plain;
      if (at >= end || json[at] !== BACKSLASH) break;
      if (isText) bytes += escapedBytes(json[at + 1], json[at + 2], json[at + 3], json[at + 4]);
      at += json[at + 1] === LETTER_U ? LONG_ESCAPE_BYTES : 2;
    }
    this.#at = at;
    if (isText) this.#tally.textBytes += bytes;
    // An odd byte is passed by: the document is known to be valid.
    if (at < end && json[at] === QUOTE) this.#endString();
    else if (at < end) this.#at += 1;
  }

  #endString(): void {
    this.#at += 1;
    const wasName = this.#reading === 'name';
    this.#reading = 'nothing';
    if (wasName) this.#name = this.#readName();
    else if (this.#skipped === 0) this.#endValue();
  }

  #endValue(): void {
    const place = this.#places.at(-1);
    const bytes = this.#at - this.#startAt;
    if (place === 'root') this.#endMember(bytes);
    else if ((place === 'part' || place === 'innerPart') && this.#name === 'type' && bytes <= TYPE_MAX_BYTES) {
      if (IMAGE_TYPES.has(this.#written())) this.#tally.images += 1;
    }
  }

  #endMember(bytes: number): void {
    const { values } = this;
    if (this.#name === 'tools') values.toolBytes = this.#json[this.#startAt] === LETTER_N ? 0 : bytes;
    if (COUNTS.has(this.#name)) values.counts.set(this.#name, bytes <= COUNT_MAX_BYTES ? this.#written() : '');
  }

  /** A name that is too long to be one of ours is any other one. */
  #readName(): string {
    if (this.#at - this.#startAt > NAME_MAX_BYTES) return OTHER;
    const written = this.#written();
    return written.includes('\\') ? String(JSON.parse(written)) : written.slice(1, -1);
  }

  #written(): string {
    return this.#json.toString('latin1', this.#startAt, this.#at);
  }
}

const LETTER_N = 0x6e;
const LETTER_U = 0x75;
/** `\u` and four digits. */
const LONG_ESCAPE_BYTES = 6;
const OTHER = 'other';

function nothing(): Tally {
  return { textBytes: 0, images: 0, messages: 0 };
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === BRACE_END || byte === BRACKET_END || isBlank(byte);
}
