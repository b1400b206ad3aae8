// Whether bytes are one JSON document (RFC 8259), and where in it a member's value stands, without building anything: of a
// request body only a few fields are read, and a few kilobytes sent can make a tree of values that takes a second and a
// gigabyte. Apart from strict-json.ts, which reads values; here each byte is looked at once, and any byte can be the last
// one before a pause.

import { Buffer, isUtf8 } from 'node:buffer';
import { escapeEnd, isBlank, literalEnd, numberEnd, plainEnd } from './json-bytes.ts';
import { BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COLON, COMMA, QUOTE } from './json-marks.ts';
import { JsonTokens } from './json-tokens.ts';
import { fault, ok, type Result } from './result.ts';
import { complete, type Steps } from './steps.ts';
import { encodeUtf8, findInvalidUtf8 } from './utf8.ts';

/** Arrays and objects within each other. Engines' own parsers give up at about as many, or earlier. */
export const DEPTH_MAX = 1_000;

/** Bytes from pause to pause, a millisecond of the densest JSON. */
const SLICE_BYTES = 262_144;

/** As an escape, a byte of a name takes at most six: `\u0061`. */
const ESCAPED_BYTES = 6;

/** Bytes `start` up to, not including, `end`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** Which rule of JSON, or of this reader, a document breaks first; UTF-8 comes before all else. */
export type JsonFlaw = 'not_utf8' | 'not_json' | 'too_deep';

/** What is known of a valid document. */
export interface ScannedJson {
  readonly isObject: boolean;
  /**
   * The first and the last value of the top-level members with the asked name: no, one, or two spans. More than one is the
   * caller's to judge, since parsers differ in which they take.
   */
  readonly spans: readonly ByteSpan[];
}

/**
 * Reads one document: UTF-8 without a byte order mark, at most {@link DEPTH_MAX} deep, at most
 * 1,024 digits in a row, nothing after it. Names are compared decoded; `name` is well-formed. Time is linear, memory
 * constant, and it pauses every `sliceBytes`.
 */
export function* scanMembers(
  bytes: Uint8Array,
  name: string,
  sliceBytes: number = SLICE_BYTES,
): Steps<Result<ScannedJson, JsonFlaw>> {
  const isOneSlice = bytes.length <= sliceBytes;
  const isText = isOneSlice ? isUtf8(bytes) : (yield* findInvalidUtf8(bytes, sliceBytes)) === undefined;
  if (!isText) return fault('not_utf8');
  const scan = new MemberScan(bytes, name);
  for (let end = sliceBytes; scan.readTo(Math.min(end, bytes.length)) && end < bytes.length; end += sliceBytes) yield;
  return scan.outcome;
}

/** The same in one go, for short documents: the spans, none unless the document is a valid object. */
export function findMembers(bytes: Uint8Array, name: string): readonly ByteSpan[] {
  const scanned = complete(scanMembers(bytes, name));
  return scanned.ok ? scanned.value.spans : [];
}

/** What may come next, blanks aside; within a string it is what the string stands for. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/** How far a document has been read. Read on after a flaw, it means nothing. */
class MemberScan {
  readonly #json: Buffer;
  readonly #name: string;
  readonly #nameBytes: Uint8Array;
  /** What closes each array and object that is open. */
  readonly #closing: number[] = [];
  #at = 0;
  #expected: Expected = 'value';
  /** The opening quote of the string that is being read, -1 outside of strings. */
  #stringAt = -1;
  /** Whether the last name at the top level is the asked one, and where its value begins. */
  #isNamed = false;
  #valueAt = 0;
  readonly #spans: ByteSpan[] = [];
  #isObject = false;
  #flaw: JsonFlaw | undefined;

  constructor(bytes: Uint8Array, name: string) {
    this.#json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#name = name;
    this.#nameBytes = encodeUtf8(name);
  }

  /** What there is to say of the document if it ends here. */
  get outcome(): Result<ScannedJson, JsonFlaw> {
    if (this.#flaw !== undefined) return fault(this.#flaw);
    return this.#expected === 'nothing' ? ok({ isObject: this.#isObject, spans: this.#spans }) : fault('not_json');
  }

  /** Up to the byte `end`, or a few bytes more. False when a flaw is found. */
  readTo(end: number): boolean {
    while (this.#at < end && this.#flaw === undefined) {
      if (this.#stringAt !== -1) this.#readString(end);
      else if (isBlank(this.#json[this.#at])) this.#at += 1;
      else this.#readToken(this.#json[this.#at]);
    }
    return this.#flaw === undefined;
  }

  #readToken(byte: number | undefined): void {
    const expected = this.#expected;
    if (expected === 'value' || (expected === 'value or end' && byte !== BRACKET_END)) this.#beginValue(byte);
    else if (byte === QUOTE && (expected === 'name' || expected === 'name or end')) this.#beginString();
    else if (byte === COLON && expected === 'colon') this.#step('value');
    else if (byte === COMMA && expected === 'comma or end') this.#step(this.#isInObject() ? 'name' : 'value');
    else if (expected === 'comma or end' || expected === 'name or end' || expected === 'value or end')
      this.#close(byte);
    else this.#flaw = 'not_json';
  }

  #isInObject(): boolean {
    return this.#closing.at(-1) === BRACE_END;
  }

  #step(expected: Expected): void {
    this.#at += 1;
    this.#expected = expected;
  }

  #beginValue(byte: number | undefined): void {
    if (this.#closing.length === 1) this.#valueAt = this.#at;
    if (byte === QUOTE) this.#beginString();
    else if (byte === BRACE) this.#open(BRACE_END, 'name or end');
    else if (byte === BRACKET) this.#open(BRACKET_END, 'value or end');
    else {
      const end = literalEnd(this.#json, this.#at) ?? numberEnd(this.#json, this.#at);
      if (end === undefined) this.#flaw = 'not_json';
      else this.#endValue(end);
    }
  }

  #open(closing: number, expected: Expected): void {
    if (this.#closing.length === 0) this.#isObject = closing === BRACE_END;
    if (this.#closing.length === DEPTH_MAX) this.#flaw = 'too_deep';
    this.#closing.push(closing);
    this.#step(expected);
  }

  #close(byte: number | undefined): void {
    if (byte !== this.#closing.pop()) this.#flaw = 'not_json';
    this.#endValue(this.#at + 1);
  }

  #endValue(end: number): void {
    this.#at = end;
    this.#expected = this.#closing.length === 0 ? 'nothing' : 'comma or end';
    if (this.#closing.length !== 1 || !this.#isNamed) return;
    this.#isNamed = false;
    this.#spans[Math.min(this.#spans.length, 1)] = { start: this.#valueAt, end };
  }

  #beginString(): void {
    this.#stringAt = this.#at;
    this.#at += 1;
  }

  /** On to the closing quote, or to `end`. */
  #readString(end: number): void {
    const json = this.#json;
    let at = plainEnd(json, this.#at, end);
    while (json[at] === BACKSLASH && at < end) {
      const next = escapeEnd(json, at);
      if (next === undefined) break;
      at = plainEnd(json, next, end);
    }
    this.#at = at;
    if (at >= end) return;
    if (json[at] === QUOTE) this.#endString(at + 1);
    else this.#flaw = 'not_json';
  }

  #endString(end: number): void {
    const start = this.#stringAt;
    this.#stringAt = -1;
    if (this.#expected === 'value' || this.#expected === 'value or end') this.#endValue(end);
    else {
      if (this.#closing.length === 1) this.#isNamed = this.#isAskedName(start, end);
      this.#at = end;
      this.#expected = 'colon';
    }
  }

  /** Names are given with their quotes. */
  #isAskedName(start: number, end: number): boolean {
    const length = end - start - 2;
    if (length > this.#nameBytes.length * ESCAPED_BYTES) return false;
    let same = 0;
    while (same < length && isSame(this.#json[start + 1 + same], this.#nameBytes[same])) same += 1;
    if (same === length) return length === this.#nameBytes.length;
    // Where they part there may be an escape, and nothing else that could still make them one.
    if (this.#json[start + 1 + same] !== BACKSLASH) return false;
    const quoted = this.#json.subarray(start, end);
    return new JsonTokens(quoted, { tokenLength: quoted.length, sliceLength: 1 }).readString() === this.#name;
  }
}

/** A backslash is no byte of a name, but begins one. */
function isSame(byte: number | undefined, named: number | undefined): boolean {
  return byte === named && byte !== BACKSLASH;
}
