// The secrets that sign and verify tokens. All sites must read the same text into the same bytes, so every trim rule
// is exact (D-53), and whatever could silently become another secret is refused.

import { Buffer } from 'node:buffer';
import { createSecretKey } from 'node:crypto';
import { fault, ok, type Result } from '../lib/result.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { TokenSecret } from './token-secret.ts';

export interface Keyring {
  /** The first secret: signs new tokens. */
  readonly signing: TokenSecret;
  /** Every secret by ID, the first too: all verify. */
  readonly byId: ReadonlyMap<string, TokenSecret>;
}

const SECRET_ID = /^[A-Za-z0-9_-]{1,16}$/;
const SECRET_MIN_BYTES = 32;
const BYTE_ORDER_MARK = '\u{FEFF}';
const REPLACEMENT_CHARACTER = '\u{FFFD}';
/** ASCII white space only: `trim` also takes away characters that another tool would leave in the secret. */
const OUTER_WHITE_SPACE = /^[\t\v\f\r ]+|[\t\v\f\r ]+$/g;

interface SecretEntry {
  /** Where it stands, for messages: an ID may be a piece of a badly written secret. */
  readonly place: string;
  readonly text: string;
}

/**
 * Reads the secrets file: one `id:secret` per line, LF or CRLF, blank lines ignored, no comments. The
 * ID is 1 to 16 of `A-Za-z0-9_-`, the secret everything after the first colon, at least 32 bytes of UTF-8.
 * The fault names line and rule of each that is broken, never a secret (R-153, E12).
 */
export function parseSecretsFile(text: string): Result<Keyring, string> {
  const lines = text.split('\n').map((line, index) => ({ place: `line ${index + 1}`, text: trim(line) }));
  return readKeyring(lines.filter((line) => line.text !== ''));
}

/** Reads the variable: as `parseSecretsFile`, but separated by commas, and an empty entry is refused. */
export function parseSecretsVariable(text: string): Result<Keyring, string> {
  return readKeyring(text.split(',').map((entry, index) => ({ place: `entry ${index + 1}`, text: trim(entry) })));
}

function trim(text: string): string {
  return text.replace(OUTER_WHITE_SPACE, '');
}

function readKeyring(entries: readonly SecretEntry[]): Result<Keyring, string> {
  const byId = new Map<string, TokenSecret>();
  const faults: string[] = [];
  for (const entry of entries) {
    const secret = readSecret(entry);
    if (!secret.ok) faults.push(secret.fault);
    else if (byId.has(secret.value.id)) {
      faults.push(`${entry.place}: the ID "${secret.value.id}" is taken by an earlier secret`);
    } else byId.set(secret.value.id, secret.value);
  }
  if (faults.length > 0) return fault(tellFaults(faults, (line) => line).join('; '));
  const [signing] = byId.values();
  return signing === undefined ? fault('no secret') : ok({ signing, byId });
}

function readSecret({ place, text }: SecretEntry): Result<TokenSecret, string> {
  if (text === '') return fault(`${place}: empty`);
  if (text.startsWith(BYTE_ORDER_MARK)) return fault(`${place}: starts with a byte order mark`);
  const colon = text.indexOf(':');
  if (colon === -1) return fault(`${place}: no ":" between ID and secret`);
  const id = text.slice(0, colon);
  const secret = text.slice(colon + 1);
  if (!SECRET_ID.test(id)) return fault(`${place}: the ID must be 1 to 16 letters, digits, "_" or "-"`);
  // A lenient reader writes U+FFFD for every bad byte: two files would give one, far weaker, secret.
  if (secret.includes(REPLACEMENT_CHARACTER) || !secret.isWellFormed()) return fault(`${place}: not valid UTF-8`);
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_MIN_BYTES) return fault(`${place}: the secret is shorter than ${SECRET_MIN_BYTES} bytes`);
  return ok(new TokenSecret(id, createSecretKey(bytes)));
}
