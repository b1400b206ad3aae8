// A body as it came over the wire, before its content encoding is undone: what a token is bound to (R-090, D-35).

import { hash } from 'node:crypto';
import type { ContentEncoding } from './content-encoding.ts';

export class ReceivedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Undefined: the bytes are the content. */
  readonly encoding: ContentEncoding | undefined;
  #sha256: string | undefined;

  /** `sha256`: where it was taken while reading. */
  constructor(bytes: Uint8Array<ArrayBuffer>, encoding: ContentEncoding | undefined, sha256?: string) {
    this.bytes = bytes;
    this.encoding = encoding;
    this.#sha256 = sha256;
  }

  /** SHA-256 of the bytes, 64 hex digits. Taken once, and only when somebody asks (E15). */
  hash(): string {
    this.#sha256 ??= hash('sha256', this.bytes, 'hex');
    return this.#sha256;
  }
}
