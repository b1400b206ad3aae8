import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { nextClaims } from '../../src/redirect/next-hop.ts';
import { claims, NOW_MS, present, siteId } from './builders.ts';

const HERE = siteId('site-fr-2');
const TARGET = siteId('site-de-1');
const FIRST = siteId('site-fr-1');

const LEG = { here: HERE, target: TARGET, nowMs: NOW_MS + 777, lifetimeMs: 1_500, random: () => new Uint8Array(16) };

describe('nextClaims()', () => {
  it('starts a new request at hop 1 with this site as origin (R-088)', () => {
    const next = present(nextClaims(claims(), { hops: 0, origin: undefined }, LEG));
    assert.deepEqual([next.hop, next.origin, next.target], [1, HERE, TARGET]);
  });

  it('sends a redirected request on at hop 2, its first origin kept (R-088, D-33)', () => {
    const next = present(nextClaims(claims(), { hops: 1, origin: FIRST }, LEG));
    assert.deepEqual([next.hop, next.origin, next.target], [2, FIRST, TARGET]);
  });

  it('makes no third redirect (R-025, R-138)', () => {
    assert.equal(nextClaims(claims(), { hops: 2, origin: FIRST }, LEG), undefined);
    assert.equal(nextClaims(claims(), { hops: 2, origin: undefined }, LEG), undefined);
  });

  it('is issued now, for the lifetime, to the millisecond (R-087)', () => {
    const next = present(nextClaims(claims(), { hops: 0, origin: undefined }, LEG));
    assert.deepEqual([next.issuedMs, next.lifetimeMs], [NOW_MS + 777, 1_500]);
  });

  it('carries everything else of an accepted token, but its token ID (R-089)', () => {
    const accepted = claims({ clientRequestId: '018F6B1E-7C1A-7000-8000-0123456789AB' });
    const next = present(nextClaims(accepted, { hops: accepted.hop, origin: accepted.origin }, LEG));
    assert.deepEqual(next, {
      ...accepted,
      hop: 2,
      target: TARGET,
      issuedMs: LEG.nowMs,
      lifetimeMs: LEG.lifetimeMs,
      tokenId: '0'.repeat(32),
    });
  });

  it('takes 16 fresh bytes for every token ID, and writes them all (R-085)', () => {
    const asked: number[] = [];
    const random = (size: number) => {
      asked.push(size);
      return new Uint8Array(size).fill(asked.length);
    };
    const ids = [1, 2].map(() => nextClaims(claims(), { hops: 0, origin: undefined }, { ...LEG, random })?.tokenId);
    assert.deepEqual(asked, [16, 16]);
    assert.deepEqual(ids, ['01'.repeat(16), '02'.repeat(16)]);
  });

  it('gives 100,000 redirects of one request as many token IDs (R-085)', () => {
    const request = claims();
    const ids = new Set<string>();
    for (let count = 0; count < 100_000; count += 1) {
      ids.add(present(nextClaims(request, { hops: 0, origin: undefined }, { ...LEG, random: randomBytes })).tokenId);
    }
    assert.equal(ids.size, 100_000);
  });
});
