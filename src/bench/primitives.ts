// What the functions that every redirect calls cost by themselves: the code of the router, called in a loop.

import { createHmac, hash, randomBytes } from 'node:crypto';
import type { RedirectClaims } from '../redirect/claims.ts';
import { type Keyring, parseSecretsVariable } from '../redirect/keyring.ts';
import { mintToken } from '../redirect/token.ts';
import { type TargetFacts, verifyBeforeBody } from '../redirect/verify.ts';
import { parseSiteId, type SiteId } from '../site/site.ts';
import type { PrimitiveFinding } from './findings.ts';

/** Calls between two looks at the clock. */
const BATCH = 64;
/** What a token's MAC covers. */
const MESSAGE_BYTES = 250;

type Primitive = readonly [name: PrimitiveFinding['name'], call: () => unknown];

/** Measures all four for `durationMs` together, a quarter of it to warm up. */
export function measurePrimitives(body: Uint8Array, durationMs: number): readonly PrimitiveFinding[] {
  const primitives = primitivesOver(body);
  const eachMs = durationMs / primitives.length;
  return primitives.map(([name, call]) => {
    callsPerSecond(call, eachMs / 4);
    return { name, perSecond: callsPerSecond(call, (eachMs * 3) / 4) };
  });
}

function primitivesOver(body: Uint8Array): readonly Primitive[] {
  const keyring = makeKeyring();
  const nowMs = Date.now();
  const claims = makeClaims(nowMs, hash('sha256', body, 'hex'));
  const token = mintToken(claims, keyring) ?? '';
  const facts: TargetFacts = {
    siteId: claims.target,
    endpoint: claims.endpoint,
    ownSite: undefined,
    startedMs: undefined,
    arrivedMs: nowMs,
    keyMatches: () => true,
  };
  const message = randomBytes(MESSAGE_BYTES);
  const verify = () => verifyBeforeBody([token], keyring, facts);
  if (!verify().ok) throw new Error('A fresh token is not accepted: nothing that is measured would mean anything');
  return [
    ['sha256_body', () => hash('sha256', body, 'hex')],
    ['hmac_sha256', () => createHmac('sha256', keyring.signing.key).update(message).digest('base64url')],
    ['mint_token', () => mintToken(claims, keyring)],
    ['verify_token', verify],
  ];
}

function callsPerSecond(call: () => unknown, durationMs: number): number {
  const startedMs = performance.now();
  let calls = 0;
  let elapsedMs = 0;
  do {
    for (let left = BATCH; left > 0; left -= 1) call();
    calls += BATCH;
    elapsedMs = performance.now() - startedMs;
  } while (elapsedMs < durationMs);
  return Math.round((calls * 1_000) / elapsedMs);
}

function makeKeyring(): Keyring {
  const keyring = parseSecretsVariable(`k1:${randomBytes(24).toString('hex')}`);
  if (!keyring.ok) throw new Error(`No keyring: ${keyring.fault}`);
  return keyring.value;
}

function makeClaims(nowMs: number, bodyHash: string): RedirectClaims {
  return {
    endpoint: '/v1/chat/completions',
    hop: 1,
    scope: { kind: 'all' },
    issuedMs: nowMs,
    lifetimeMs: 3_600_000,
    tokenId: randomBytes(16).toString('hex'),
    bodyHash,
    requestId: crypto.randomUUID(),
    clientRequestId: undefined,
    origin: siteId('site-a'),
    target: siteId('site-b'),
    keyId: 'key-0123456789',
    model: 'llama-3-70b',
  };
}

function siteId(text: string): SiteId {
  const id = parseSiteId(text);
  if (id === undefined) throw new Error(`No site ID: ${text}`);
  return id;
}
