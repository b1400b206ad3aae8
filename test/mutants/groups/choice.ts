// The five steps of "Choosing the site": candidates, home set, session order, hints, and waking here.

import { type Mutant, mutantsOf } from '../mutant.ts';

const CHOICE_TESTS = ['test/site/choose-site.test.ts', 'test/site/choose-site-properties.test.ts'];

const CHOICE: readonly Mutant[] = mutantsOf('src/site/choose-site.ts', CHOICE_TESTS, {
  'this site is a candidate': ["if (site.id === here) return 'self';", ''],
  'the origin is a candidate': ["if (site.id === origin) return 'origin';", ''],
  'a site outside the scope is a candidate': ["scopeIncludes(scope, site) ? undefined : 'scope'", 'undefined'],
  'the candidates are not narrowed to the home set': [
    'sessionOrder(keyId, session, homeSet(keyId, model, candidates))',
    'candidates',
  ],
  'the session does not count': [
    'sessionOrder(keyId, session, homeSet(keyId, model, candidates))',
    'homeSet(keyId, model, candidates)',
  ],
  'stale hints count': [
    "if (!areHintsFresh(question.map, question.nowMs)) return { kind: 'redirect', site: first.site };\n",
    '',
  ],
  'stale hints end the choice': [
    "if (!areHintsFresh(question.map, question.nowMs)) return { kind: 'redirect', site: first.site };\n",
    "if (!areHintsFresh(question.map, question.nowMs)) return { kind: 'here', reason: 'no_candidate' };\n",
  ],
  'one cold home site is enough to wake here': ['home.every(', 'home.some('],
  'a model wakes here beside a warm home site': [
    'home.every(isCold) && canWakeHere(question)',
    'canWakeHere(question)',
  ],
  'no model ever wakes here': [
    'home.every(isCold) && canWakeHere(question)',
    'home.every(isCold) && !canWakeHere(question) && false',
  ],
  'a model wakes here that this router cannot hold': ['return canHold && map', 'return map'],
  'a model wakes here that cannot scale from zero': ['here)?.scaleFromZero === true', 'here) !== undefined'],
  'a full site is taken': ["if (placed.placement.hint?.load === 'full') return 'full';", ''],
  'a busy site is passed over': [
    "placed.placement.hint?.load === 'full'",
    "(placed.placement.hint?.load ?? 'ok') !== 'ok'",
  ],
  'a cold site that cannot wake is taken': [
    "isCold(placed) && !placed.placement.scaleFromZero ? 'cold'",
    "false ? 'cold'",
  ],
  'a cold site that can wake is passed over': [
    'isCold(placed) && !placed.placement.scaleFromZero ?',
    'isCold(placed) ?',
  ],
  'a warm site is not preferred': ['home.find(isWarmAndUsable) ?? home.find(isUsable)', 'home.find(isUsable)'],
  'a cold site is preferred': ['!isCold(placed) && isUsable(placed)', 'isCold(placed) && isUsable(placed)'],
  'a warm site that is full is preferred': ['!isCold(placed) && isUsable(placed)', '!isCold(placed)'],
  'no cold site is ever taken': ['?? home.find(isUsable) ?? first', '?? first'],
  'when all would be skipped, the last is taken': [
    '?? home.find(isUsable) ?? first',
    '?? home.find(isUsable) ?? home.at(-1) ?? first',
  ],
  'a full site is told to be later': ['hintAgainst(placed) ?? (', '('],
  'a cold site is told to be later': ["isColder ? 'cold' : 'later", "isColder ? 'later_in_session_order' : 'later"],
  'a foreign site is told to be later': ["return 'not_home'", "return 'later_in_session_order'"],
  'stale hints are told': ["if (!areHintsFresh(question.map, question.nowMs)) return 'later_in_session_order';", ''],
  'the chosen site is told too': ['.filter(({ site }) => site !== chosen?.site)', ''],
  'a site without a hint is cold': ['placement.hint?.warm === false', 'placement.hint?.warm !== true'],
  'placements of another kind count': [
    'const placed = map.placedSites(model, kind)',
    "const placed = [...map.placedSites(model, kind), ...map.placedSites(model, kind === 'chat' ? 'embeddings' : 'chat')]",
  ],
});

const HASHES: readonly Mutant[] = mutantsOf('src/site/rendezvous.ts', ['test/site/rendezvous.test.ts'], {
  'the home hash has another prefix': ['/home/v1\\0', '/home/v2\\0'],
  'the session hash has another prefix': ['/session/v1\\0', '/session/v2\\0'],
  'the home hash leaves out the key': ['HOME_PREFIX, [keyId, model]', "HOME_PREFIX, ['', model]"],
  'the home hash leaves out the model': ['HOME_PREFIX, [keyId, model]', "HOME_PREFIX, [keyId, '']"],
  'the home hash leaves out the site': [
    "hash('sha256', message, 'binary') };",
    "hash('sha256', question, 'binary') };",
  ],
  'a site is hashed with the last letters of another': [
    'writeUtf8(site, last, siteAt)',
    'writeUtf8(site.slice(0, -1), last, siteAt)',
  ],
  'a site is hashed over a longer one': ['last.length !== siteAt + site.length', 'last.length < siteAt + site.length'],
  'the session hash leaves out the key': ['SESSION_PREFIX, [keyId, ', "SESSION_PREFIX, ['', "],
  'the session hash leaves out the session': ['session, first]', 'session.subarray(0, 0), first]'],
  'the session hash leaves out the first home site': ['session, first]', 'session]'],
  'the session hash takes the second home site': ['session, first]', 'session, second]'],
  'the home set holds the lowest': ['one.digest > other.digest', 'one.digest < other.digest'],
  'of two equal digests the larger ID ranks higher': ['one.site < other.site', 'one.site > other.site'],
  'the home set holds the best and any other': [
    'second !== undefined && outranks(second, ranked)',
    'second !== undefined',
  ],
  'a beaten first leaves the home set': ['[first, second] = [ranked, first]', 'first = ranked'],
  'the home set is one site': ['second === undefined ? [first.site]', 'second !== null ? [first.site]'],
  'the session bit is turned round': ["digest < '\\x80'", "digest >= '\\x80'"],
  'a quarter of the sessions turns round': ["digest < '\\x80'", "digest < '\\xc0'"],
  'all sessions have one order': ["digest < '\\x80'", "digest < '\\u0100'"],
});

const PREFIX: readonly Mutant[] = mutantsOf('src/lib/lp-bytes.ts', ['test/lib/lp-bytes.test.ts'], {
  'a length is little-endian': ['>>> (24 - 8 * index)', '>>> (8 * index)'],
  'a length is not written': ['size >>> (24 - 8 * index)', '0'],
});

const MAP: readonly Mutant[] = mutantsOf(
  'src/site/sibling-map.ts',
  ['test/site/sibling-map.test.ts', 'test/site/choose-site.test.ts', 'test/http/metrics.test.ts'],
  {
    'hints count in the millisecond in which they expire': [
      'nowMs < map.hintsExpireAtMs',
      'nowMs <= map.hintsExpireAtMs',
    ],
    'hints expire a millisecond early': ['nowMs < map.hintsExpireAtMs', 'nowMs + 1 < map.hintsExpireAtMs'],
    'a map without hints has fresh ones': ['return map.hasHints && ', 'return '],
    'one placement without a hint takes all hints away': ['.some(({ hint })', '.every(({ hint })'],
    'a placement is of any kind': ['byKind.get(placement.kind)', "byKind.get('chat')"],
  },
);

export const SITE_CHOICE: readonly Mutant[] = [...CHOICE, ...HASHES, ...PREFIX, ...MAP];
