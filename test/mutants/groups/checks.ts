// The eight checks on a token: each left out, each at its limit, and their order (redirect-requirements 1.8).

import { type Mutant, mutantsOf, swapsOf } from '../mutant.ts';

const VERIFY = 'src/redirect/verify.ts';
const TESTS = ['test/redirect/verify.test.ts', 'test/http/token-checks.test.ts'];

const LINES = {
  expired: "if (facts.arrivedMs > lastValidMs(claims)) return 'expired';",
  'expired after a restart': "if (mayPredateStart(claims.issuedMs, facts.startedMs)) return 'expired';",
  clock: "if (claims.issuedMs > facts.arrivedMs + CLOCK_GRACE_MS) return 'clock';",
  site: "if (claims.target !== facts.siteId) return 'site';",
  path: "if (claims.endpoint !== facts.endpoint) return 'path';",
  scope: "if (!isInScope(claims.scope, facts.ownSite)) return 'scope';",
  key: "if (!facts.keyMatches(claims.keyId)) return 'key';",
};

const LEFT_OUT = Object.fromEntries(
  Object.entries(LINES).map(([reason, line]) => [`nothing is refused as ${reason}`, [line, ''] as const]),
);

const BEFORE_BODY: readonly Mutant[] = [
  ...mutantsOf(VERIFY, TESTS, {
    ...LEFT_OUT,
    'the first of several tokens counts': ['text === undefined || shown.length > 1', 'text === undefined'],
    'a token has a millisecond less of grace': ['facts.arrivedMs > lastValidMs', 'facts.arrivedMs >= lastValidMs'],
    'a token has a millisecond more of grace': ['facts.arrivedMs > lastValidMs', 'facts.arrivedMs - 1 > lastValidMs'],
    'a clock may be a millisecond less behind': ['claims.issuedMs > facts', 'claims.issuedMs >= facts'],
    'a clock may be a millisecond more behind': ['claims.issuedMs > facts', 'claims.issuedMs - 1 > facts'],
    'no clock may be behind': ['facts.arrivedMs + CLOCK_GRACE_MS', 'facts.arrivedMs'],
    'the case of a site ID does not count': [
      'claims.target !== facts.siteId',
      'claims.target.toLowerCase() !== facts.siteId.toLowerCase()',
    ],
    'a site without a map is inside every scope': ["scope.kind === 'all' :", 'true :'],
    'a site without a map is inside no scope': ["scope.kind === 'all' :", 'false :'],
    'a refusal after the MAC forgets the claims': [
      'fault({ reason, authentic: claims })',
      'fault({ reason, authentic: undefined })',
    ],
  }),
  // No token fails both: it would have to end before it was issued.
  ...swapsOf(VERIFY, TESTS, LINES, ['expired and clock', 'expired and expired after a restart']),
];

const RESTART: readonly Mutant[] = [
  ...mutantsOf('src/redirect/restart.ts', ['test/redirect/restart.test.ts'], {
    'a restart forgets a millisecond less': ['issuedMs < startedMs', 'issuedMs + 1 < startedMs'],
    'a restart forgets a millisecond more': ['issuedMs < startedMs', 'issuedMs <= startedMs'],
    'a restart forgets no clock that is ahead': ['startedMs + CLOCK_GRACE_MS', 'startedMs'],
  }),
  ...mutantsOf('src/http/entrance.ts', TESTS, {
    'nobody remembers the restart': ['startedMs: ports.restoredAtMs', 'startedMs: undefined'],
  }),
];

const GRACE: readonly Mutant[] = mutantsOf('src/redirect/claims.ts', TESTS, {
  'clocks may drift by 1 ms more': ['CLOCK_GRACE_MS = 5_000', 'CLOCK_GRACE_MS = 5_001'],
  'clocks may drift by 1 ms less': ['CLOCK_GRACE_MS = 5_000', 'CLOCK_GRACE_MS = 4_999'],
  'a token has no grace at its end': ['claims.lifetimeMs + CLOCK_GRACE_MS', 'claims.lifetimeMs'],
  'a token ends a lifetime after 1970': ['claims.issuedMs + claims.lifetimeMs', 'claims.lifetimeMs'],
});

const ENTRANCE = 'src/http/entrance.ts';
const USE_TESTS = [
  'test/http/loop-guard.test.ts',
  'test/http/redirect.test.ts',
  'test/http/scope.test.ts',
  'test/http/token-checks.test.ts',
  'test/http/token-use.test.ts',
  'test/http/token-unused.test.ts',
  'test/http/accepting.test.ts',
  'test/http/refusal.test.ts',
  'test/http/credentials.test.ts',
];

const BODY_CHECK = '  const verdict = verifyBody(entrance.claims, body.hash());\n';
const CALLER = '  const caller = callerOfKey(ports.auth, claims.keyId, nowMs);\n';
const MODEL_LINE = '  if (!mayUseModel(caller, claims.model)) throw forbidden(claims.model);\n';
const MARK_LINE = '  redirect.ledger.markUsed(claims, nowMs);\n';
const KEY_MATCHES = 'tokenKeyMatches(ports.auth, arrival.credentials, ports.nowMs())';

const AFTER_BODY: readonly Mutant[] = [
  ...mutantsOf(VERIFY, TESTS, {
    'any body will do': ['claims.bodyHash === bodyHash', 'true'],
    'another body forgets the claims': ["reason: 'body', authentic: claims", "reason: 'body', authentic: undefined"],
  }),
  ...mutantsOf(ENTRANCE, USE_TESTS, {
    'the mark is never made': [MARK_LINE, ''],
    'the mark is made after an await': [
      MARK_LINE,
      `  queueMicrotask(() => {
    if (redirect.ledger.check(claims, nowMs) === undefined) redirect.ledger.markUsed(claims, nowMs);
  });
`,
    ],
    'the mark is made before the allowlist': [
      [MODEL_LINE, MARK_LINE],
      [MARK_LINE, MODEL_LINE],
    ],
    'the mark is made before the body': [
      [BODY_CHECK, `  entrance.redirect.ledger.markUsed(entrance.claims, ports.nowMs());\n${BODY_CHECK}`],
      [MARK_LINE, ''],
    ],
    'body and replay change places': [
      [
        BODY_CHECK,
        `  const early = entrance.redirect.ledger.check(entrance.claims, ports.nowMs());
  if (early !== undefined) return enterOnOwnKey(ports, arrival, { reason: early, authentic: entrance.claims });
${BODY_CHECK}`,
      ],
    ],
    'the ledger is asked before the body and marked after it': [
      [
        '  adoptClaims(arrival.record, verdict.value);',
        `  const early = redirect.ledger.check(verdict.value, ports.nowMs());
  if (early !== undefined) {
    return { kind: 'new', admitted: enterOnOwnKey(ports, arrival, { reason: early, authentic: verdict.value }) };
  }
  adoptClaims(arrival.record, verdict.value);`,
      ],
      ['redirect.ledger.check(claims, nowMs)', 'undefined as undefined'],
      [
        MARK_LINE,
        '  if (redirect.ledger.check(claims, nowMs) === undefined) redirect.ledger.markUsed(claims, nowMs);\n',
      ],
    ],
    'the key is checked last of all': [
      [KEY_MATCHES, '() => true'],
      [
        '  const { redirect, claims } = entrance;\n',
        `  const { redirect, claims } = entrance;
  if (!${KEY_MATCHES}(claims.keyId)) return enterOnOwnKey(ports, arrival, { reason: 'key', authentic: claims });
`,
      ],
    ],
    'the allowlist of the token’s key does not count': [MODEL_LINE, ''],
    'a key that went while the body came still counts': [
      CALLER,
      '  const caller = callerOfKey(ports.auth, claims.keyId, nowMs) ?? { keyId: claims.keyId, owner: claims.keyId, allowedModels: undefined, quota: undefined };\n',
    ],
    'a token is checked against the time of its body': [
      'arrivedMs: arrival.record.arrivedMs',
      'arrivedMs: ports.nowMs()',
    ],
    'a token of another path passes': ['endpoint: arrival.endpoint.path', "endpoint: '/v1/chat/completions'"],
    'the header decides the scope of an accepted token': [
      '    scope: claims.scope,',
      '    scope: readScope(ports, arrival) ?? claims.scope,',
    ],
    'an accepted token forgets its claims': [
      '    maxWaitMs: entrance.maxWaitMs,\n    claims,',
      '    maxWaitMs: entrance.maxWaitMs,\n    claims: undefined,',
    ],
  }),
  ...mutantsOf(
    'src/http/received-body.ts',
    [...USE_TESTS, 'test/http/body.test.ts', 'test/http/content-encoding.test.ts'],
    {
      'the body is hashed as text': ["'sha256', this.bytes", "'sha256', new TextDecoder().decode(this.bytes)"],
    },
  ),
];

export const CHECKS: readonly Mutant[] = [...BEFORE_BODY, ...RESTART, ...GRACE, ...AFTER_BODY];
