// Opening and checking a token, against its floor: one HMAC-SHA256 over the bytes that the MAC covers. A refusal for a
// wrong signature must not cost more than the MAC itself, for anyone can ask for it (T-17).

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { UsedTokenLedger } from '../src/redirect/ledger.ts';
import { type RefusalReason, verifyBeforeBody, verifyBody } from '../src/redirect/verify.ts';
import { claims, keyring, NOW_MS, scope, siteId, token, tokenId } from '../test/redirect/builders.ts';
import { facts } from '../test/redirect/target.ts';
import { type Measured, report } from './report.ts';

const DOMAIN = 'hivenet-router/redirect-token/v2\0';
const KEYRING = keyring();
const FACTS = facts();
const LIVE_IDS = 100_000;

const TEXT = token();
const MESSAGE = Buffer.from(DOMAIN + TEXT.slice(0, -44));
const { key } = KEYRING.signing;

const floor = () => createHmac('sha256', key).update(MESSAGE).digest('base64url');
assert.equal(floor(), TEXT.slice(-43));

const ledger = new UsedTokenLedger();
for (let number = 1; number <= LIVE_IDS; number += 1) ledger.markUsed(claims({ tokenId: tokenId(number) }), NOW_MS);

/** Checks 1 to 6 on a token that passes them. */
function opening(): Measured {
  const run = () => verifyBeforeBody([TEXT], KEYRING, FACTS);
  assert.equal(run().ok, true);
  return { name: 'accept, checks 1 to 6', run, floor, target: 'verify' };
}

/** All eight checks; not the mark, or it would pass once. */
function accepting(): Measured {
  const { bodyHash } = claims();
  const run = () => {
    const head = verifyBeforeBody([TEXT], KEYRING, FACTS);
    if (!head.ok) return head.fault.reason;
    return verifyBody(head.value, bodyHash).ok && ledger.check(head.value, NOW_MS) === undefined;
  };
  assert.equal(run(), true);
  return { name: `accept, all eight checks, ${LIVE_IDS} used IDs`, run, floor, atMost: 12 };
}

/** Refused before the body: what each check costs whoever is refused by it. */
function refusing(reason: RefusalReason, text: string, bound: Partial<Measured>): Measured {
  const run = () => verifyBeforeBody([text], KEYRING, FACTS);
  const found = run();
  assert.equal(found.ok ? undefined : found.fault.reason, reason);
  return { name: `refuse as ${reason}, ${text.length} characters`, run, floor, ...bound };
}

function refusingBody(): Measured {
  const run = () => {
    const head = verifyBeforeBody([TEXT], KEYRING, FACTS);
    return head.ok && verifyBody(head.value, '0'.repeat(64)).ok;
  };
  assert.equal(run(), false);
  return { name: 'refuse as body', run, floor, atMost: 12 };
}

function refusingReplay(): Measured {
  const used = token({ tokenId: tokenId(1) });
  const run = () => {
    const head = verifyBeforeBody([used], KEYRING, FACTS);
    return head.ok && ledger.check(head.value, NOW_MS);
  };
  assert.equal(run(), 'replay');
  return { name: 'refuse as replay', run, floor, atMost: 12 };
}

const CLOSE = { atMost: 12 };

await report('Verify', [
  opening(),
  accepting(),
  refusing('signature', `${TEXT.slice(0, -43)}${'A'.repeat(43)}`, { target: 'badMac' }),
  refusing('malformed', 'A'.repeat(100_000), { atMost: 1 }),
  refusing('malformed', `v2.k1.${'A'.repeat(100_000)}`, { atMost: 10 }),
  refusing('expired', token({ issuedMs: NOW_MS - 65_001 }), CLOSE),
  refusing('clock', token({ issuedMs: NOW_MS + 5_001 }), CLOSE),
  refusing('site', token({ target: siteId('site-fr-3') }), CLOSE),
  refusing('path', token({ endpoint: '/v1/messages' }), CLOSE),
  refusing('scope', token({ scope: scope('country:DE') }), CLOSE),
  refusing('key', token({ keyId: 'key-other' }), CLOSE),
  refusingBody(),
  refusingReplay(),
]);
