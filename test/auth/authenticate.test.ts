import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  authenticate,
  authenticateFallback,
  type ClientAuth,
  callerOfKey,
  mayUseModel,
  tokenKeyMatches,
} from '../../src/auth/authenticate.ts';
import type { Credentials } from '../../src/auth/credentials.ts';
import { buildKey, buildRegistry, NOW_MS, sha256Hex } from './key-builder.ts';

const NONE: ClientAuth = { mode: 'none' };
const DYNAMIC: ClientAuth = {
  mode: 'dynamic',
  registry: buildRegistry(
    buildKey('one', { owner: 'acme', allowedModels: new Set(['m']) }),
    buildKey('two'),
    buildKey('off', { enabled: false }),
    buildKey('fresh', { expiresAtMs: NOW_MS + 1 }),
    buildKey('over', { expiresAtMs: NOW_MS }),
    buildKey('void', { keyHash: sha256Hex('') }),
  ),
};
const ANYONE = { keyId: '', owner: 'default', allowedModels: undefined };

/** What was sent: an `Authorization` value, an `x-api-key` value; undefined is a header that was not sent. */
type Shown = readonly [authorization?: string | undefined, apiKey?: string | undefined];

function showing([authorization, apiKey]: Shown): Credentials {
  return { tokens: [], authorization, apiKey };
}

function describeShown([authorization, apiKey]: Shown): string {
  return `Authorization ${JSON.stringify(authorization)}, x-api-key ${JSON.stringify(apiKey)}`;
}

const DYNAMIC_CASES: readonly { readonly shown: Shown; readonly keyId: string | undefined }[] = [
  { shown: [], keyId: undefined },
  { shown: ['Bearer sk-one'], keyId: 'one' },
  { shown: ['sk-one'], keyId: 'one' },
  { shown: ['Bearer sk-fresh'], keyId: 'fresh' },
  { shown: ['Bearer sk-over'], keyId: undefined },
  { shown: ['Bearer sk-off'], keyId: undefined },
  { shown: ['Bearer sk-unknown'], keyId: undefined },
  { shown: ['Bearer SK-ONE'], keyId: undefined },
  { shown: ['bearer sk-one'], keyId: undefined },
  { shown: ['Basic sk-one'], keyId: undefined },
  { shown: ['Bearer'], keyId: undefined },
  { shown: [''], keyId: undefined },
  { shown: ['Bearer one'], keyId: undefined },
  { shown: [`Bearer ${sha256Hex('sk-one')}`], keyId: undefined },
  { shown: ['Bearer sk-one, Bearer sk-one'], keyId: undefined },
  { shown: [', Bearer sk-one'], keyId: undefined },
  { shown: [undefined, 'sk-one'], keyId: 'one' },
  { shown: [undefined, 'Bearer sk-one'], keyId: undefined },
  { shown: [undefined, 'sk-over'], keyId: undefined },
  { shown: [undefined, 'sk-one, sk-one'], keyId: undefined },
  { shown: [undefined, ''], keyId: undefined },
  { shown: ['Bearer sk-one', 'sk-two'], keyId: 'one' },
  { shown: ['Bearer sk-one', 'sk-unknown'], keyId: 'one' },
  { shown: ['Bearer sk-unknown', 'sk-one'], keyId: undefined },
  { shown: ['', 'sk-one'], keyId: undefined },
];

describe('authenticate()', () => {
  for (const { shown, keyId } of DYNAMIC_CASES) {
    it(`knows ${keyId ?? 'nobody'} by ${describeShown(shown)} (E1)`, () => {
      assert.equal(authenticate(DYNAMIC, showing(shown), NOW_MS)?.keyId, keyId);
    });
  }

  it('gives key ID, owner and allowlist of the key', () => {
    const caller = authenticate(DYNAMIC, showing(['Bearer sk-one']), NOW_MS);
    assert.deepEqual(caller, { keyId: 'one', owner: 'acme', allowedModels: new Set(['m']) });
  });

  it('lets everyone in, as owner "default" without key ID, in mode none', () => {
    for (const shown of [[], ['Bearer x'], [undefined, 'x']] as const) {
      assert.deepEqual(authenticate(NONE, showing(shown), NOW_MS), ANYONE);
    }
  });
});

describe('authenticateFallback()', () => {
  for (const { shown, keyId } of DYNAMIC_CASES) {
    it(`knows ${keyId ?? 'nobody'} by ${describeShown(shown)}, as for a new request (R-119, R-120)`, () => {
      assert.equal(authenticateFallback(DYNAMIC, showing(shown), NOW_MS)?.keyId, keyId);
    });
  }

  const none: readonly (readonly [shown: Shown, caller: object | undefined])[] = [
    [[], undefined],
    [['Bearer x'], ANYONE],
    [[''], ANYONE],
    [[undefined, 'x'], ANYONE],
    [[undefined, ''], ANYONE],
    [['x', 'y'], ANYONE],
  ];
  for (const [shown, caller] of none) {
    it(`${caller ? 'admits' : 'refuses'} ${describeShown(shown)} in mode none (D-30, E1)`, () => {
      assert.deepEqual(authenticateFallback(NONE, showing(shown), NOW_MS), caller);
    });
  }
});

describe('tokenKeyMatches()', () => {
  const cases: readonly { readonly token: string; readonly shown: Shown; readonly matches: boolean }[] = [
    { token: 'one', shown: [], matches: true },
    { token: 'one', shown: ['Bearer sk-one'], matches: true },
    { token: 'one', shown: ['sk-one'], matches: true },
    { token: 'one', shown: [undefined, 'sk-one'], matches: true },
    { token: 'one', shown: ['Bearer sk-one', 'sk-one'], matches: true },
    { token: 'fresh', shown: [], matches: true },
    { token: 'unknown', shown: [], matches: false },
    { token: 'ONE', shown: [], matches: false },
    { token: '', shown: [], matches: false },
    { token: 'off', shown: [], matches: false },
    { token: 'over', shown: [], matches: false },
    { token: 'over', shown: ['Bearer sk-over'], matches: false },
    { token: 'one', shown: ['Bearer sk-two'], matches: false },
    { token: 'one', shown: ['Bearer sk-unknown'], matches: false },
    { token: 'one', shown: ['Basic x'], matches: false },
    { token: 'one', shown: [''], matches: false },
    { token: 'one', shown: ['Bearer sk-one, Bearer sk-one'], matches: false },
    { token: 'one', shown: [undefined, 'sk-two'], matches: false },
    { token: 'one', shown: [undefined, ''], matches: false },
    { token: 'one', shown: ['Bearer sk-one', 'sk-two'], matches: false },
    { token: 'one', shown: ['Bearer sk-two', 'sk-one'], matches: false },
    { token: 'one', shown: ['', 'sk-one'], matches: false },
    { token: 'void', shown: [''], matches: false },
  ];
  for (const { token, shown, matches } of cases) {
    it(`${matches ? 'accepts' : 'refuses'} a token of "${token}" beside ${describeShown(shown)} (R-104 to R-107, E1)`, () => {
      assert.equal(tokenKeyMatches(DYNAMIC, showing(shown), NOW_MS)(token), matches);
    });
  }

  it('accepts only the empty key ID in mode none, whatever else was sent (R-107)', () => {
    for (const shown of [[], ['Bearer x'], ['a', 'b']] as const) {
      const matches = tokenKeyMatches(NONE, showing(shown), NOW_MS);
      assert.equal(matches(''), true);
      assert.equal(matches('one'), false);
    }
  });

  it('asks the registry at the moment of the check, not before (T-21)', () => {
    const registry = buildRegistry(buildKey('one'));
    const matches = tokenKeyMatches({ mode: 'dynamic', registry }, showing([]), NOW_MS);
    assert.equal(matches('one'), true);
    registry.replace('2', [buildKey('one', { enabled: false })]);
    assert.equal(matches('one'), false);
  });
});

describe('callerOfKey()', () => {
  it('gives the caller that a token names', () => {
    const caller = { keyId: 'one', owner: 'acme', allowedModels: new Set(['m']) };
    assert.deepEqual(callerOfKey(DYNAMIC, 'one'), caller);
  });

  it('knows nobody by the ID of a key that was taken away or disabled since check 6', () => {
    for (const keyId of ['unknown', 'off', '']) assert.equal(callerOfKey(DYNAMIC, keyId), undefined);
  });

  it('knows only the empty ID in mode none (D-30)', () => {
    assert.deepEqual(callerOfKey(NONE, ''), ANYONE);
    assert.equal(callerOfKey(NONE, 'one'), undefined);
  });
});

describe('mayUseModel()', () => {
  const restricted = { keyId: 'k', owner: 'o', allowedModels: new Set(['m', 'n/o']) };
  const cases = [
    { caller: ANYONE, model: 'anything', may: true },
    { caller: restricted, model: 'm', may: true },
    { caller: restricted, model: 'n/o', may: true },
    { caller: restricted, model: 'M', may: false },
    { caller: restricted, model: 'm ', may: false },
    { caller: restricted, model: 'n', may: false },
    { caller: restricted, model: '', may: false },
  ];
  for (const { caller, model, may } of cases) {
    it(`${may ? 'allows' : 'forbids'} "${model}" to a key ${caller === ANYONE ? 'without' : 'with'} allowlist`, () => {
      assert.equal(mayUseModel(caller, model), may);
    });
  }
});
