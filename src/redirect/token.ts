// The token's text, `v2.<secret id>.<claims>.<signature>` (redirect-requirements 4.1). The MAC covers the text as
// transmitted, and nothing behind it is looked at before it has verified (T-11, T-16).

import { Buffer } from 'node:buffer';
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeBase64url } from '../lib/base64url.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { RedirectClaims } from './claims.ts';
import { decodeClaims, encodeClaims } from './claims-bytes.ts';
import type { Keyring } from './keyring.ts';

/** One algorithm per version, none to choose (RFC 8725 §3.1). At most 1,164 characters, so below the 1,200 of R-093. */
const FORM = /^v2\.[\w-]{1,16}\.[\w-]{152,1100}\.[\w-]{43}$/;
const SECRET_ID_START = 'v2.'.length;
const SIGNATURE_CHARACTERS = 43;

/** Goes before the signed text; its NUL keeps MACs apart from those of any other protocol with the same secret (T-15). */
const MAC_DOMAIN = 'hivenet-router/redirect-token/v2\0';

/**
 * The signed token, 202 to 1,112 characters that a query takes as they are. Undefined when a claim is
 * out of bounds (`encodeClaims`): the request is then handled here.
 */
export function mintToken(claims: RedirectClaims, keyring: Keyring): string | undefined {
  const bytes = encodeClaims(claims);
  if (bytes === undefined) return undefined;
  const signed = `v2.${keyring.signing.id}.${bytes.toString('base64url')}`;
  return `${signed}.${signatureOf(signed, keyring.signing.key)}`;
}

/**
 * Check 1, in the order of 4.3: form, secret ID, MAC, claims. `malformed`: not the form, or signed claims that do not
 * decode. `signature`: unknown secret ID or another MAC.
 */
export function openToken(text: string, keyring: Keyring): Result<RedirectClaims, 'malformed' | 'signature'> {
  // Cut here and not by the expression: groups that are captured cost as much again as the MAC.
  if (!FORM.test(text)) return fault('malformed');
  const secretIdEnd = text.indexOf('.', SECRET_ID_START);
  const secretId = text.slice(SECRET_ID_START, secretIdEnd);
  const key = keyring.byId.get(secretId);
  if (key === undefined) return fault('signature');
  const signed = text.slice(0, -SIGNATURE_CHARACTERS - 1);
  const signature = text.slice(-SIGNATURE_CHARACTERS);
  if (!isSameSignature(signature, signatureOf(signed, key))) return fault('signature');
  const claimsText = signed.slice(secretIdEnd + 1);
  const bytes = decodeBase64url(claimsText);
  const claims = bytes === undefined ? undefined : decodeClaims(bytes);
  return claims === undefined ? fault('malformed') : ok(claims);
}

function signatureOf(signed: string, key: KeyObject): string {
  return createHmac('sha256', key)
    .update(MAC_DOMAIN + signed, 'latin1')
    .digest('base64url');
}

/**
 * In constant time, or the MAC could be found byte by byte (T-12). As text: its last character has two spare bits, and
 * four spellings would decode to one MAC. Both are 43 ASCII characters.
 */
function isSameSignature(shown: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(shown, 'latin1'), Buffer.from(expected, 'latin1'));
}
