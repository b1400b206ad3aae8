// What a token leaves behind, refused or accepted: counts, record, hops and origin.

import { type Mutant, mutantsOf } from '../mutant.ts';

const ENTRANCE = 'src/http/entrance.ts';

const NEXT_HOP: readonly Mutant[] = mutantsOf(
  'src/redirect/next-hop.ts',
  ['test/redirect/next-hop.test.ts', 'test/http/loop-guard.test.ts', 'test/http/refusal.test.ts'],
  {
    'a forged token starts a request anew': ['{ hops: 2, origin: undefined }', '{ hops: 0, origin: undefined }'],
    'a forged token costs one redirect': ['{ hops: 2, origin: undefined }', '{ hops: 1, origin: undefined }'],
    'a refused token forgets its hops': [': passageOf(authentic)', ': { ...passageOf(authentic), hops: 0 }'],
    'a refused token forgets its origin': [
      ': passageOf(authentic)',
      ': { ...passageOf(authentic), origin: undefined }',
    ],
    'a refused token forbids every redirect': [': passageOf(authentic)', ': { ...passageOf(authentic), hops: 2 }'],
    'a token forgets its hop': ['hops: claims.hop', 'hops: 0'],
    'a token forgets its origin': ['origin: claims.origin }', 'origin: undefined }'],
  },
);

const FALLBACK: readonly Mutant[] = mutantsOf(
  ENTRANCE,
  [
    'test/http/refusal.test.ts',
    'test/http/loop-guard.test.ts',
    'test/http/token-use.test.ts',
    'test/http/token-unused.test.ts',
    'test/http/metrics.test.ts',
    'test/http/feature-off.test.ts',
    'test/http/credentials.test.ts',
  ],
  {
    'a token authenticates with the feature off': [
      'redirect === undefined || arrival',
      'redirect === undefined && arrival',
    ],
    'a refusal is not counted': ['ports.metrics.redirect?.refused(refusal.reason);', ''],
    'a refusal is counted twice': [
      'ports.metrics.redirect?.refused(refusal.reason);',
      'ports.metrics.redirect?.refused(refusal.reason);\n  ports.metrics.redirect?.refused(refusal.reason);',
    ],
    'a refusal is not logged': ['arrival.record.refusalReason = refusal.reason;', ''],
    'a refused token leaves its claims in the record': ['  forgetClaims(ports, arrival);\n', ''],
    'a refused token leaves its key in the record': ['keyId: undefined, originSite', 'originSite'],
    'a refused token leaves its origin in the record': ['originSite: undefined, hop', 'hop'],
    'a refused token leaves its hop in the record': ['hop: undefined, ...requestIds', '...requestIds'],
    'a refused token leaves its request ID': [', ...requestIds(ports, arrival.headers) };', ' };'],
    'a refused token opens the door in mode none': ['authenticateFallback(ports.auth', 'authenticate(ports.auth'],
    'a refusal names its reason': [
      "RouterError('token_refused', TOKEN_REFUSED)",
      "RouterError('token_refused', `${TOKEN_REFUSED} ${refusal.reason}`)",
    ],
    'a refusal is no reason to start again': ["RouterError('token_refused'", "RouterError('unauthorized'"],
    'a refused token ends the request': [
      '  const caller = authenticateFallback(',
      "  if (refusal.authentic === undefined) throw new RouterError('token_refused', TOKEN_REFUSED);\n  const caller = authenticateFallback(",
    ],
    'a full ledger is not logged': ['if (redirect.ledger.isFull)\n', 'if (false)\n'],
  },
);

const RECORD: readonly Mutant[] = mutantsOf(
  ENTRANCE,
  [
    'test/http/accepting.test.ts',
    'test/http/privacy.test.ts',
    'test/http/token-use.test.ts',
    'test/http/token-unused.test.ts',
    'test/http/refusal.test.ts',
    'test/http/redirect.test.ts',
  ],
  {
    'an accepted token’s claims are not recorded': ['  adoptClaims(arrival.record, verdict.value);\n', ''],
    'an accepted request has an ID of its own': ['record.requestId = claims.requestId;', ''],
    'an accepted request has the client ID of its header': ['record.clientRequestId = claims.clientRequestId;', ''],
    'an accepted request is recorded under nobody’s key': ['record.keyId = claims.keyId;', ''],
    'an accepted request is recorded without its origin': ['record.originSite = claims.origin;', ''],
    'an accepted request is recorded without its hop': ['record.hop = claims.hop;', ''],
    'a new request is recorded under nobody’s key': ['arrival.record.keyId = entry.caller.keyId;', ''],
  },
);

export const PASSAGE: readonly Mutant[] = [...NEXT_HOP, ...FALLBACK, ...RECORD];
