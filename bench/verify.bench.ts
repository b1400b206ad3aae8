// Opening and checking a token, against its floor: one HMAC-SHA256 over the bytes that the MAC covers. A refusal for a
// wrong signature must not cost more than the MAC itself, for anyone can ask for it (T-17).

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { UsedTokenLedger } from '../src/redirect/ledger.ts';
import { verifyBeforeBody, verifyBody } from '../src/redirect/verify.ts';
import { claims, keyring, NOW_MS, token, tokenId } from '../test/redirect/builders.ts';
import { facts } from '../test/redirect/target.ts';
import { type Measured, report } from './report.ts';

const DOMAIN = 'hivenet-router/redirect-token/v2\0';
const KEYRING = keyring();
const FACTS = facts();
const LIVE_IDS = 100_000;

const TEXT = token();
const WRONG = `${TEXT.slice(0, -43)}${'A'.repeat(43)}`;
const MESSAGE = Buffer.from(DOMAIN + TEXT.slice(0, -44));
const { key } = KEYRING.signing;

const floor = () => createHmac('sha256', key).update(MESSAGE).digest('base64url');
assert.equal(floor(), TEXT.slice(-43));

const ledger = new UsedTokenLedger();
for (let number = 1; number <= LIVE_IDS; number += 1) ledger.markUsed(claims({ tokenId: tokenId(number) }), NOW_MS);

/** The eight checks on a token that passes them all; not the mark, or it would pass once. */
function accepting(): Measured {
  const { bodyHash } = claims();
  const run = () => {
    const head = verifyBeforeBody([TEXT], KEYRING, FACTS);
    if (!head.ok) return head.fault.reason;
    return verifyBody(head.value, bodyHash).ok && ledger.check(head.value, NOW_MS) === undefined;
  };
  assert.equal(run(), true);
  return { name: `accept, ${TEXT.length} characters, ${LIVE_IDS} used IDs`, run, floor, atMost: 20 };
}

function refusing(text: string, reason: string, atMost: number): Measured {
  const run = () => verifyBeforeBody([text], KEYRING, FACTS);
  assert.deepEqual(run(), { ok: false, fault: { reason, authentic: undefined } });
  return { name: `refuse as ${reason}, ${text.length} characters`, run, floor, atMost };
}

await report('verify', [
  accepting(),
  refusing(WRONG, 'signature', 6),
  refusing('A'.repeat(100_000), 'malformed', 1),
  refusing(`v2.k1.${'A'.repeat(100_000)}`, 'malformed', 10),
]);
