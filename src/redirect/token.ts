// The token's text, `v2.<secret id>.<claims>.<signature>` (redirect-requirements 4.1). The MAC covers the text as
// transmitted, and nothing behind it is looked at before it has verified (T-11, T-16).

import { decodeBase64url } from '../lib/base64url.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { RedirectClaims } from './claims.ts';
import { decodeClaims } from './claims-bytes.ts';
import type { Keyring } from './keyring.ts';
import { SIGNATURE_CHARACTERS } from './token-secret.ts';

/** One algorithm per version, none to choose (RFC 8725 §3.1). At most 1,164 characters, so below the 1,200 of R-093. */
const FORM = /^v2\.[\w-]{1,16}\.[\w-]{152,1100}\.[\w-]{43}$/;
const SECRET_ID_START = 'v2.'.length;

/**
 * The signed token, 202 to 1,112 characters that a query takes as they are. Undefined when a claim is
 * out of bounds (`encodeClaims`): the request is then handled here.
 */
export function mintToken(claims: RedirectClaims, keyring: Keyring): string | undefined {
  return keyring.signing.mint(claims);
}

/**
 * Check 1, in the order of 4.3: form, secret ID, MAC, claims. `malformed`: not the form, or signed claims that do not
 * decode. `signature`: unknown secret ID or another MAC.
 */
export function openToken(text: string, keyring: Keyring): Result<RedirectClaims, 'malformed' | 'signature'> {
  // Cut here and not by the expression: groups that are captured cost as much again as the MAC.
  if (!FORM.test(text)) return fault('malformed');
  const secretIdEnd = text.indexOf('.', SECRET_ID_START);
  const secret = keyring.byId.get(text.slice(SECRET_ID_START, secretIdEnd));
  if (secret === undefined) return fault('signature');
  const claimsText = text.slice(secretIdEnd + 1, -SIGNATURE_CHARACTERS - 1);
  if (!secret.verifies(text)) return fault('signature');
  const bytes = decodeBase64url(claimsText);
  const claims = bytes === undefined ? undefined : decodeClaims(bytes);
  return claims === undefined ? fault('malformed') : ok(claims);
}
