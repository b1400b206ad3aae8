import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDPOINT_PATHS, lastValidMs, type RedirectClaims } from '../../src/redirect/claims.ts';
import { bytesOf, claims, NOW_MS, siteId } from './builders.ts';

const UUID = '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a';

type Sides = readonly (readonly [change: Partial<RedirectClaims>, isWithin: boolean])[];

const BOUNDS = {
  endpoint: ENDPOINT_PATHS.map((endpoint) => [{ endpoint }, true] as const),
  hop: [
    [{ hop: 1 }, true],
    [{ hop: 2 }, true],
  ],
  scope: [[{ scope: { kind: 'all' } }, true]],
  issuedMs: [
    [{ issuedMs: -1 }, false],
    [{ issuedMs: 0 }, true],
    [{ issuedMs: 2 ** 48 - 1 }, true],
    [{ issuedMs: 2 ** 48 }, false],
    [{ issuedMs: NOW_MS + 0.5 }, false],
    [{ issuedMs: Number.NaN }, false],
  ],
  lifetimeMs: [
    [{ lifetimeMs: 0 }, false],
    [{ lifetimeMs: 1 }, true],
    [{ lifetimeMs: 3_600_000 }, true],
    [{ lifetimeMs: 3_600_001 }, false],
    [{ lifetimeMs: 1.5 }, false],
  ],
  tokenId: [
    [{ tokenId: '0f'.repeat(16) }, true],
    [{ tokenId: '0f'.repeat(15) }, false],
    [{ tokenId: '0f'.repeat(17) }, false],
    [{ tokenId: '0F'.repeat(16) }, false],
    [{ tokenId: '0g'.repeat(16) }, false],
    [{ tokenId: `${'0'.repeat(31)}:` }, false],
    [{ tokenId: `/${'0'.repeat(31)}` }, false],
    [{ tokenId: `${'0'.repeat(31)}\u{130}` }, false],
  ],
  bodyHash: [
    [{ bodyHash: '0f'.repeat(32) }, true],
    [{ bodyHash: '0f'.repeat(31) }, false],
    [{ bodyHash: '0f'.repeat(33) }, false],
    [{ bodyHash: '0F'.repeat(32) }, false],
    [{ bodyHash: `${'0'.repeat(63)}g` }, false],
  ],
  requestId: [
    [{ requestId: UUID.toUpperCase() }, true],
    [{ requestId: '' }, false],
    [{ requestId: UUID.slice(1) }, false],
    [{ requestId: `{${UUID}}` }, false],
    [{ requestId: `${UUID}\n` }, false],
  ],
  clientRequestId: [
    [{ clientRequestId: undefined }, true],
    [{ clientRequestId: UUID }, true],
    [{ clientRequestId: '' }, false],
    [{ clientRequestId: 'x\r\ny' }, false],
  ],
  origin: [[{ origin: siteId('site-fr-2') }, false]],
  target: [
    [{ target: siteId('site-fr-1') }, false],
    [{ target: siteId('SITE-fr-1') }, true],
  ],
  keyId: [
    [{ keyId: '' }, true],
    [{ keyId: 'k'.repeat(255) }, true],
    [{ keyId: 'k'.repeat(256) }, false],
    [{ keyId: `${'é'.repeat(127)}k` }, true],
    [{ keyId: 'é'.repeat(128) }, false],
    [{ keyId: '模'.repeat(85) }, true],
    [{ keyId: '模'.repeat(86) }, false],
    [{ keyId: 'key-\u{D800}' }, false],
  ],
  model: [
    [{ model: '' }, false],
    [{ model: 'm' }, true],
    [{ model: 'm'.repeat(256) }, true],
    [{ model: 'm'.repeat(257) }, false],
    [{ model: '🦙'.repeat(64) }, true],
    [{ model: `${'🦙'.repeat(64)}m` }, false],
    [{ model: '\u{DC00}' }, false],
  ],
} satisfies Record<keyof RedirectClaims, Sides>;

describe('the bounds of claims', () => {
  for (const [field, sides] of Object.entries(BOUNDS)) {
    it(`hold ${field} to 4.2, on both sides, when they are written`, () => {
      for (const [change, isWithin] of sides) {
        assert.equal(bytesOf(claims(change)) !== undefined, isWithin, JSON.stringify(change));
      }
    });
  }
});

describe('lastValidMs()', () => {
  it('is expiry and 5 s of grace (R-087, R-098)', () => {
    assert.equal(lastValidMs(claims({ issuedMs: NOW_MS, lifetimeMs: 1_500 })), NOW_MS + 1_500 + 5_000);
  });
});
