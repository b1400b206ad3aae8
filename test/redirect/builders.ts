// What the tests of this room are made of: claims, keyrings and sites, each valid until a test changes it.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import type { Result } from '../../src/lib/result.ts';
import { ENDPOINT_PATHS, LIFETIME_MAX_MS, type RedirectClaims } from '../../src/redirect/claims.ts';
import { CLAIMS_MAX_BYTES, encodeClaims } from '../../src/redirect/claims-bytes.ts';
import { type Keyring, parseSecretsFile } from '../../src/redirect/keyring.ts';
import { mintToken } from '../../src/redirect/token.ts';
import { parseCountryCode } from '../../src/site/country.ts';
import { parseScope, type Scope } from '../../src/site/scope.ts';
import { parseSiteId, type Site, type SiteId } from '../../src/site/site.ts';

/** 2026-11-03T12:00:00Z, when every token is issued unless a test says otherwise. */
export const NOW_MS = 1_793_707_200_000;

export const SECRET_K1 = '0123456789abcdef0123456789abcdef';

export function present<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined, 'a value is missing');
  return value;
}

export function okValue<Value>(result: Result<Value, unknown>): Value {
  assert.ok(result.ok, 'a result is a fault');
  return result.value;
}

export function siteId(text: string): SiteId {
  return present(parseSiteId(text));
}

export function scope(text: string): Scope {
  return present(parseScope(text));
}

export function site(id: string, country: string, eu: boolean): Site {
  return { id: siteId(id), url: `https://${id}.example.com`, country: present(parseCountryCode(country)), eu };
}

export function keyring(...entries: readonly string[]): Keyring {
  return okValue(parseSecretsFile(entries.length === 0 ? `k1:${SECRET_K1}` : entries.join('\n')));
}

/** The claims of vector T1. */
export function claims(change: Partial<RedirectClaims> = {}): RedirectClaims {
  return {
    endpoint: '/v1/chat/completions',
    hop: 1,
    scope: scope('country:FR'),
    issuedMs: NOW_MS,
    lifetimeMs: 60_000,
    tokenId: '000102030405060708090a0b0c0d0e0f',
    bodyHash: 'a1e7acdecacdd3268902db8cd089e055d7696e38c41d0ffe29ff491e4890a071',
    requestId: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a',
    clientRequestId: undefined,
    origin: siteId('site-fr-1'),
    target: siteId('site-fr-2'),
    keyId: 'key-abc123',
    model: 'llama-3-70b',
    ...change,
  };
}

/** The claims as bytes; undefined when one is out of bounds. */
export function bytesOf(written: RedirectClaims): Buffer | undefined {
  const bytes = Buffer.alloc(CLAIMS_MAX_BYTES);
  const size = encodeClaims(written, bytes);
  return size === undefined ? undefined : bytes.subarray(0, size);
}

export function tokenId(number: number): string {
  return number.toString(16).padStart(32, '0');
}

export function token(change: Partial<RedirectClaims> = {}, signedBy: Keyring = keyring()): string {
  return present(mintToken(claims(change), signedBy));
}

/** Claims of every shape that a token can carry. */
export function anyClaims(): fc.Arbitrary<RedirectClaims> {
  const uuid = fc.uuid().chain((text) => fc.constantFrom(text, text.toUpperCase()));
  const sites = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/), { minLength: 2, maxLength: 2 });
  return fc
    .record({
      endpoint: fc.constantFrom(...ENDPOINT_PATHS),
      hop: fc.constantFrom<1 | 2>(1, 2),
      scope: fc.constantFrom('all', 'EU', 'country:FR', 'country:AD', 'country:ZW').map(scope),
      issuedMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      lifetimeMs: fc.integer({ min: 1, max: LIFETIME_MAX_MS }),
      tokenId: hex(16),
      bodyHash: hex(32),
      requestId: uuid,
      clientRequestId: fc.option(uuid, { nil: undefined }),
      sites,
      keyId: fc.string({ unit: 'binary', maxLength: 63 }),
      model: fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }),
    })
    .map(({ sites: [origin = '', target = ''], ...rest }) => ({
      ...rest,
      origin: siteId(origin),
      target: siteId(target),
    }));
}

function hex(size: number): fc.Arbitrary<string> {
  return fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Buffer.from(bytes).toString('hex'));
}
