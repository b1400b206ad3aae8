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
import { KeyTable } from '../../src/auth/key-table.ts';
import { StaticKeys } from '../../src/auth/static-keys.ts';
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
const ANYONE = {
  keyId: '',
  owner: 'default',
  allowedModels: undefined,
  quota: undefined,
  maxOccupancyShare: undefined,
};

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
    assert.deepEqual(caller, {
      keyId: 'one',
      owner: 'acme',
      allowedModels: new Set(['m']),
      quota: undefined,
      maxOccupancyShare: undefined,
    });
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
    registry.replace('2', new KeyTable([buildKey('one', { enabled: false })]));
    assert.equal(matches('one'), false);
  });
});

describe('callerOfKey()', () => {
  it('gives the caller that a token names', () => {
    const caller = {
      keyId: 'one',
      owner: 'acme',
      allowedModels: new Set(['m']),
      quota: undefined,
      maxOccupancyShare: undefined,
    };
    assert.deepEqual(callerOfKey(DYNAMIC, 'one', NOW_MS), caller);
  });

  it('knows nobody by the ID of a key that was taken away, disabled or expired since check 6', () => {
    assert.equal(callerOfKey(DYNAMIC, 'fresh', NOW_MS)?.keyId, 'fresh');
    for (const keyId of ['unknown', 'off', 'over', '']) assert.equal(callerOfKey(DYNAMIC, keyId, NOW_MS), undefined);
  });

  it('knows only the empty ID in mode none (D-30)', () => {
    assert.deepEqual(callerOfKey(NONE, '', NOW_MS), ANYONE);
    assert.equal(callerOfKey(NONE, 'one', NOW_MS), undefined);
  });
});

describe('mayUseModel()', () => {
  const restricted = {
    keyId: 'k',
    owner: 'o',
    allowedModels: new Set(['m', 'n/o']),
    quota: undefined,
    maxOccupancyShare: undefined,
  };
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

const PER_MODEL = new Map([['m', { requestsPerMinutePerReplica: 1, tokensPerDay: 2 }]]);
const QUOTA = {
  requestsPerMinute: undefined,
  tokensPerDay: undefined,
  inputTokensPerMinute: undefined,
  outputTokensPerMinute: undefined,
  perModel: PER_MODEL,
};

describe('limits per model as an allowlist', () => {
  const registry = buildRegistry(
    buildKey('strict', { quota: QUOTA }),
    buildKey('both', { quota: QUOTA, allowedModels: new Set(['other']) }),
    buildKey('flat', { quota: { ...QUOTA, perModel: undefined }, allowedModels: new Set(['other']) }),
  );
  const may = (id: string, model: string) => {
    const caller = authenticate({ mode: 'dynamic', registry }, showing([`Bearer sk-${id}`]), NOW_MS);
    assert.ok(caller);
    return mayUseModel(caller, model);
  };

  it('lets a key use the models that its limits name, and no other (R-020)', () => {
    assert.deepEqual([may('strict', 'm'), may('strict', 'other'), may('strict', '')], [true, false, false]);
  });

  it('is the whole allowlist: a declared one beside it adds and takes nothing (api.md §12)', () => {
    assert.deepEqual([may('both', 'm'), may('both', 'other')], [true, false]);
  });

  it('is none where the limits are for all models', () => {
    assert.deepEqual([may('flat', 'm'), may('flat', 'other')], [false, true]);
  });

  it('gives the caller of a token its limits too (R-127)', () => {
    assert.equal(callerOfKey({ mode: 'dynamic', registry }, 'strict', NOW_MS)?.quota, QUOTA);
  });
});

describe('mode api-key', () => {
  const keys = new StaticKeys([
    buildKey('one', { id: '', owner: 'acme', quota: QUOTA }),
    buildKey('over', { id: '', expiresAtMs: NOW_MS }),
    buildKey('last', { id: '', expiresAtMs: NOW_MS + 1 }),
  ]);
  const auth: ClientAuth = { mode: 'api-key', keys };
  const keyed = (shown: Shown) => authenticate(auth, showing(shown), NOW_MS)?.owner;

  it('knows the keys of the file by either header, and gives them no key ID (api.md §8.1)', () => {
    assert.deepEqual(authenticate(auth, showing(['Bearer sk-one']), NOW_MS), {
      keyId: '',
      owner: 'acme',
      allowedModels: PER_MODEL,
      quota: QUOTA,
      maxOccupancyShare: undefined,
    });
    assert.equal(keyed([undefined, 'sk-one']), 'acme');
    assert.equal(keyed(['Bearer sk-last']), 'owner-of-last');
  });

  it('refuses no key, a wrong one, an empty one and one whose last day is over', () => {
    for (const shown of [[], ['Bearer sk-two'], [''], ['Bearer sk-over'], ['Bearer sk-two', 'sk-one']] as const) {
      assert.equal(keyed(shown), undefined);
    }
  });

  it('knows no key by an ID: no token can be of a static key (R-151)', () => {
    for (const id of ['', 'one']) {
      assert.equal(tokenKeyMatches(auth, showing(['Bearer sk-one']), NOW_MS)(id), false);
      assert.equal(callerOfKey(auth, id, NOW_MS), undefined);
    }
  });

  it('forgets the old keys when others take their place', () => {
    const held = new StaticKeys([buildKey('one')]);
    held.replace([buildKey('two')]);
    const owner = (key: string) => authenticate({ mode: 'api-key', keys: held }, showing([key]), NOW_MS)?.owner;
    assert.deepEqual([owner('sk-one'), owner('sk-two')], [undefined, 'owner-of-two']);
  });
});
