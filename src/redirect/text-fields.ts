// Texts as claims hold them: UTF-8 behind its length in two bytes (redirect-requirements 4.2). Nearly all are ASCII, of which
// every byte is a character; a call into the runtime for each would cost more than to pass over its few bytes here.

import type { Buffer } from 'node:buffer';
import { decodeUtf8 } from '../lib/utf8.ts';

const LENGTH_BYTES = 2;
const ASCII_LAST = 0x7f;

/** Writes the text at `start`, and returns where it ends. It is well-formed, and `bytes` has room for it. */
export function writeText(bytes: Buffer, start: number, text: string): number {
  const textAt = start + LENGTH_BYTES;
  let size = 0;
  for (; size < text.length; size += 1) {
    const code = text.charCodeAt(size);
    if (code > ASCII_LAST) break;
    bytes[textAt + size] = code;
  }
  if (size < text.length) size = bytes.write(text, textAt);
  bytes.writeUInt16BE(size, start);
  return textAt + size;
}

/** Reads one text after another, from `start` on. Behind the last byte it finds empty ones. */
export class TextReader {
  readonly #bytes: Buffer;
  readonly #start: number;
  /** A character a byte, to cut texts from. */
  readonly #latin1: string;
  #at: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#latin1 = bytes.toString('latin1', start);
    this.#at = start;
  }

  /** Whether the texts that were read end with the last byte. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The next text, for a rule that takes ASCII only: a byte beyond it comes as one character that is beyond it too. */
  nextAscii(): string {
    return this.#textFrom(this.#passText());
  }

  /** The next text, or undefined when it is not UTF-8. */
  nextUtf8(): string | undefined {
    const start = this.#passText();
    for (let at = start; at < this.#at; at += 1) {
      if ((this.#bytes[at] ?? 0) > ASCII_LAST) return decodeUtf8(this.#bytes.subarray(start, this.#at));
    }
    return this.#textFrom(start);
  }

  #textFrom(start: number): string {
    return this.#latin1.slice(start - this.#start, this.#at - this.#start);
  }

  /** Goes on behind the next text, and returns where it starts. */
  #passText(): number {
    const start = this.#at + LENGTH_BYTES;
    this.#at = start + 256 * (this.#bytes[this.#at] ?? 0) + (this.#bytes[this.#at + 1] ?? 0);
    return start;
  }
}
