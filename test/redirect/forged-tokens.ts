// Texts that are no tokens but look like some, by the million: changed, cut, glued, crossed, made up, or signed with a
// secret that is not ours. From one seed.

import { Buffer } from 'node:buffer';
import { seededNumbers } from '../../src/mock-engine/chance.ts';
import type { Keyring } from '../../src/redirect/keyring.ts';
import { openToken } from '../../src/redirect/token.ts';
import { keyring, siteId, token, tokenId } from './builders.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** What no token holds, and what a careless reader might skip. */
const STRANGE = ['.', '=', '+', '/', '%', ' ', '\n', '\0', 'é', '\u{FF21}', '\u{1F600}'];
const STRANGER = keyring('k1:another-secret-of-thirty-two-bytes', 'k2:and-a-second-one-of-thirty-two-byt');

const GENUINE = [
  token(),
  token({ keyId: '', model: 'm', hop: 2 }),
  token({ clientRequestId: '018f6b1e-7c1a-7000-8000-0123456789ab', scope: { kind: 'all' } }),
  token({ keyId: 'é'.repeat(100), model: 'M'.repeat(256), origin: siteId('A'.repeat(64)) }),
];

type Pick = (bound: number) => number;
type Forgery = (text: string, other: string, pick: Pick) => string;

const replaced = (text: string, at: number, count: number, by: string) =>
  text.slice(0, at) + by + text.slice(at + count);
const madeUp = (length: number, pick: Pick) => Array.from({ length }, () => ALPHABET.charAt(pick(64))).join('');

const FORGERIES: Readonly<Record<string, Forgery>> = {
  'one character': (text, _, pick) => replaced(text, pick(text.length), 1, ALPHABET.charAt(pick(64))),
  'one strange character': (text, _, pick) =>
    replaced(text, pick(text.length + 1), pick(2), STRANGE[pick(STRANGE.length)] ?? ''),
  'one bit': (text, _, pick) => {
    const at = pick(text.length);
    return replaced(text, at, 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << pick(7))));
  },
  'some characters': (text, _, pick) => {
    const at = pick(text.length);
    return replaced(text, at, pick(40), madeUp(pick(40), pick));
  },
  'two places swapped': (text, _, pick) => {
    const [at, to] = [pick(text.length), pick(text.length)];
    return replaced(replaced(text, at, 1, text.charAt(to)), to, 1, text.charAt(at));
  },
  'two tokens crossed': (text, other, pick) => text.slice(0, pick(text.length)) + other.slice(pick(other.length)),
  'parts of two tokens': (text, other, pick) => {
    const parts = [text.split('.'), other.split('.')];
    return ['v2', 'k1', parts[pick(2)]?.[2], parts[pick(2)]?.[3]].join('.');
  },
  'another secret ID': (text, _, pick) => text.replace('.k1.', `.${madeUp(1 + pick(16), pick)}.`),
  'made-up claims and MAC': (_, __, pick) => `v2.k1.${madeUp(152 + pick(100), pick)}.${madeUp(43, pick)}`,
  'made-up bytes': (_, __, pick) => String.fromCharCode(...Array.from({ length: pick(300) }, () => pick(256))),
  'the signature of a stranger': (_, __, pick) => token({ tokenId: tokenId(pick(1_000)) }, STRANGER),
};

export interface ForgeryFindings {
  /** The texts that were opened: none, one hopes. */
  readonly opened: readonly string[];
  /** How often claims were read for them: never, one hopes. */
  readonly claimsRead: number;
}

/**
 * Hands `count` forged texts to `openToken` (what came out genuine does not count), then each genuine token, which takes
 * from the readings what it adds: were the spy blind, `claimsRead` would be negative.
 */
export function tryForgeries(seed: string, count: number, ours: Keyring = keyring()): ForgeryFindings {
  const numbers = seededNumbers(seed);
  const pick: Pick = (bound) => Math.floor(numbers() * bound);
  const kinds = Object.values(FORGERIES);
  const opened: string[] = [];
  let tried = 0;
  const claimsRead = countClaimsRead(() => {
    for (let index = 0; tried < count; index += 1) {
      const [text = '', other = ''] = [GENUINE[pick(GENUINE.length)], GENUINE[pick(GENUINE.length)]];
      const forged = kinds[index % kinds.length]?.(text, other, pick) ?? '';
      if (GENUINE.includes(forged)) continue;
      tried += 1;
      if (openToken(forged, ours).ok) opened.push(forged);
    }
    for (const text of GENUINE) openToken(text, ours);
  });
  return { opened, claimsRead: claimsRead - GENUINE.length };
}

/** The reader of claims is the only caller of this method: its calls are counted in the reader's place. */
function countClaimsRead(run: () => void): number {
  const original = Buffer.prototype.readUIntBE;
  let calls = 0;
  Buffer.prototype.readUIntBE = function (this: Buffer, offset: number, byteLength: number) {
    calls += 1;
    return original.call(this, offset, byteLength);
  };
  try {
    run();
  } finally {
    Buffer.prototype.readUIntBE = original;
  }
  return calls;
}
