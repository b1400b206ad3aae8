// One secret and the MACs that it makes: of the text `v2.<secret id>.<claims>`, as transmitted (redirect-requirements 4.1).
// Apart from token.ts, which knows what stands where in a token: what is kept here from one MAC to the next is private.

import { Buffer } from 'node:buffer';
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { RedirectClaims } from './claims.ts';
import { CLAIMS_MAX_BYTES, encodeClaims } from './claims-bytes.ts';

/** Goes before the signed text; its NUL keeps MACs apart from those of any other protocol with the same secret (T-15). */
const MAC_DOMAIN = 'hivenet-router/redirect-token/v2\0';

/** Of the form in token.ts. */
const TOKEN_MAX_CHARACTERS = 1_164;
export const SIGNATURE_CHARACTERS = 43;

/** Where the parts of a token lie in the memory of its secret. */
interface TokenParts {
  /** What the MAC covers: the domain and all before the last dot. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/**
 * Signs and checks tokens. Its memory is its own and made once, since fresh buffers cost half as much as a MAC: each is
 * filled and read within one call, and holds what stands in URLs, never the secret.
 */
export class TokenSecret {
  readonly id: string;
  readonly key: KeyObject;
  readonly #head: string;
  readonly #claims = Buffer.alloc(CLAIMS_MAX_BYTES);
  /** The domain, and behind it the token that is made or checked. It always begins with the head. */
  readonly #message: Buffer;
  readonly #token: Buffer;
  /** By the length of the token, so that they are at most as many: to make one costs as much as to fill the message. */
  readonly #parts: TokenParts[] = [];
  readonly #expected = Buffer.alloc(SIGNATURE_CHARACTERS);

  /** `id`: 1 to 16 of `A-Za-z0-9_-`. */
  constructor(id: string, key: KeyObject) {
    this.id = id;
    this.key = key;
    this.#head = `v2.${id}.`;
    this.#message = Buffer.alloc(MAC_DOMAIN.length + TOKEN_MAX_CHARACTERS);
    this.#message.write(MAC_DOMAIN + this.#head, 'latin1');
    this.#token = this.#message.subarray(MAC_DOMAIN.length);
  }

  /** The token that says `claims`; undefined when one of them is out of bounds. */
  mint(claims: RedirectClaims): string | undefined {
    const size = encodeClaims(claims, this.#claims);
    if (size === undefined) return undefined;
    const text = this.#claims.toString('base64url', 0, size);
    this.#token.write(text, this.#head.length, 'latin1');
    const { signed } = this.#partsOf(this.#head.length + text.length + 1 + SIGNATURE_CHARACTERS);
    return `${this.#head}${text}.${this.#signatureOf(signed)}`;
  }

  /**
   * Whether the token, which has the form in token.ts and this secret's ID, ends in its signature. In constant time, or the
   * MAC could be found byte by byte (T-12). As text: its last character has two spare bits, and four spellings would
   * decode to one MAC.
   */
  verifies(token: string): boolean {
    this.#token.write(token, 'latin1');
    const { signed, signature } = this.#partsOf(token.length);
    this.#expected.write(this.#signatureOf(signed), 'latin1');
    return timingSafeEqual(signature, this.#expected);
  }

  #signatureOf(signed: Buffer): string {
    return createHmac('sha256', this.key).update(signed).digest('base64url');
  }

  #partsOf(characters: number): TokenParts {
    const known = this.#parts[characters];
    if (known !== undefined) return known;
    const end = MAC_DOMAIN.length + characters;
    const signatureAt = end - SIGNATURE_CHARACTERS;
    const signed = this.#message.subarray(0, signatureAt - 1);
    const parts = { signed, signature: this.#message.subarray(signatureAt, end) };
    this.#parts[characters] = parts;
    return parts;
  }
}
