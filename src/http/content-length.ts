// What a Content-Length says. Apart from the reader of bodies, whose limit and budget stand on it: a value that is no
// number would pass every comparison.

import { RouterError } from '../errors.ts';

/** Equal lines, which the runtime accepts and joins by `, ` (RFC 9110 §8.6, A13). */
const EQUAL_LENGTHS = /^([0-9]+)(?:, *\1)*$/;

/** The declared bytes, not above any bound yet; undefined for none. Throws `request_invalid` for what is no length. */
export function readContentLength(header: string | null): number | undefined {
  if (header === null) return undefined;
  const digits = EQUAL_LENGTHS.exec(header)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new RouterError('request_invalid', 'The Content-Length header is not one number of bytes.');
}
