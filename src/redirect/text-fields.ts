// Texts as claims hold them: UTF-8 behind its length in two bytes (redirect-requirements 4.2). Nearly all are ASCII, of which
// every byte is a character: then one call decodes them all.

import type { Buffer } from 'node:buffer';
import { ASCII_LAST, decodeUtf8, writeUtf8 } from '../lib/utf8.ts';

const LENGTH_BYTES = 2;

/** Writes the text at `start`, and returns where it ends. `bytes` has room for it. */
export function writeText(bytes: Buffer, start: number, text: string): number {
  const size = writeUtf8(text, bytes, start + LENGTH_BYTES);
  bytes.writeUInt16BE(size, start);
  return start + LENGTH_BYTES + size;
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
