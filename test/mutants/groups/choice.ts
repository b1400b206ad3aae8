// The five steps of "Choosing the site": candidates, home set, session order, hints, and waking here.

import { type Mutant, mutantsOf } from '../mutant.ts';

const CHOICE_TESTS = ['test/site/choose-site.test.ts', 'test/site/choose-site-properties.test.ts'];

const CHOICE: readonly Mutant[] = mutantsOf('src/site/choose-site.ts', CHOICE_TESTS, {
  'this site is a candidate': ["if (site.id === here) return 'self';", ''],
  'the origin is a candidate': ["if (site.id === origin) return 'origin';", ''],
  'a site outside the scope is a candidate': ["scopeIncludes(scope, site) ? undefined : 'scope'", 'undefined'],
  'the candidates are not narrowed to the home set': [
    'sessionOrder(keyId, session, home)',
    'candidates.map(({ site }) => site.id)',
  ],
  'the session does not count': ['sessionOrder(keyId, session, home)', 'home'],
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
    'home.every(({ placement }) => isCold(placement)) && canWakeHere(question)',
    'canWakeHere(question)',
  ],
  'no model ever wakes here': [
    'isCold(placement)) && canWakeHere(question)',
    'isCold(placement)) && !canWakeHere(question) && false',
  ],
  'a model wakes here that this router cannot hold': ['return canHold && map', 'return map'],
  'a model wakes here that cannot scale from zero': ['here)?.scaleFromZero === true', 'here) !== undefined'],
  'a full site is taken': ["if (placement.hint?.load === 'full') return 'full';", ''],
  'a busy site is passed over': ["placement.hint?.load === 'full'", "(placement.hint?.load ?? 'ok') !== 'ok'"],
  'a cold site that cannot wake is taken': ["isCold(placement) && !placement.scaleFromZero ? 'cold'", "false ? 'cold'"],
  'a cold site that can wake is passed over': [
    'isCold(placement) && !placement.scaleFromZero ?',
    'isCold(placement) ?',
  ],
  'a warm site is not preferred': ['usable.find(({ placement }) => !isCold(placement)) ?? usable[0]', 'usable[0]'],
  'a cold site is preferred': ['usable.find(({ placement }) => !isCold', 'usable.find(({ placement }) => isCold'],
  'a warm site that is full is preferred': ['usable.find(', 'home.find('],
  'no cold site is ever taken': ['?? usable[0] ?? first', '?? first'],
  'when all would be skipped, the last is taken': ['?? usable[0] ?? first', '?? usable[0] ?? home.at(-1) ?? first'],
  'a full site is told to be later': ['hintAgainst(placement) ?? (', '('],
  'a cold site is told to be later': ["isColder ? 'cold' : 'later", "isColder ? 'later_in_session_order' : 'later"],
  'a foreign site is told to be later': ["return 'not_home'", "return 'later_in_session_order'"],
  'stale hints are told': ["if (!areHintsFresh(question.map, question.nowMs)) return 'later_in_session_order';", ''],
  'the chosen site is told too': ['.filter(({ site }) => site !== chosen?.site)', ''],
  'a site without a hint is cold': ['placement.hint?.warm === false', 'placement.hint?.warm !== true'],
  'placements of another kind count': [
    'of map.placements(model, kind))',
    'of map.allPlacements.filter((one) => kind !== undefined && one.model === model))',
  ],
});

const HASHES: readonly Mutant[] = mutantsOf('src/site/rendezvous.ts', ['test/site/rendezvous.test.ts'], {
  'the home hash has another prefix': ['/home/v1\\0', '/home/v2\\0'],
  'the session hash has another prefix': ['/session/v1\\0', '/session/v2\\0'],
  'the home hash leaves out the key': [
    'HOME_PREFIX, [encodeUtf8(keyId), encodeUtf8(model)]',
    'HOME_PREFIX, [encodeUtf8(keyId.slice(0, 0)), encodeUtf8(model)]',
  ],
  'the home hash leaves out the model': [
    'HOME_PREFIX, [encodeUtf8(keyId), encodeUtf8(model)]',
    'HOME_PREFIX, [encodeUtf8(keyId), encodeUtf8(model.slice(0, 0))]',
  ],
  'the home hash leaves out the site': [
    "hash('sha256', message, 'binary') };",
    "hash('sha256', question, 'binary') };",
  ],
  'a site is hashed with the last letters of another': [
    'index = 0; index < site.length',
    'index = 0; index < site.length - 1',
  ],
  'a site is hashed over a longer one': [
    'siteAt !== question.length + PREFIX_BYTES',
    'siteAt < question.length + PREFIX_BYTES',
  ],
  'the session hash leaves out the key': [
    'SESSION_PREFIX, [encodeUtf8(keyId), ',
    'SESSION_PREFIX, [encodeUtf8(keyId.slice(0, 0)), ',
  ],
  'the session hash leaves out the session': [
    'session, encodeUtf8(first)]',
    'session.subarray(0, 0), encodeUtf8(first)]',
  ],
  'the session hash leaves out the first home site': ['session, encodeUtf8(first)]', 'session]'],
  'the session hash takes the second home site': ['session, encodeUtf8(first)]', 'session, encodeUtf8(second)]'],
  'the home set holds the lowest': ['one.digest > other.digest', 'one.digest < other.digest'],
  'of two equal digests the larger ID ranks higher': ['one.site < other.site', 'one.site > other.site'],
  'the home set holds the best and any other': [
    'second === undefined || outranks(ranked, second)',
    'second === undefined',
  ],
  'a beaten first leaves the home set': ['[first, second] = [ranked, first]', 'first = ranked'],
  'the home set is one site': ['[first, second].flatMap', '[first].flatMap'],
  'the session bit is turned round': ["digest < '\\x80'", "digest >= '\\x80'"],
  'a quarter of the sessions turns round': ["digest < '\\x80'", "digest < '\\xc0'"],
  'all sessions have one order': ["digest < '\\x80'", "digest < '\\u0100'"],
});

const PREFIX: readonly Mutant[] = mutantsOf('src/lib/lp-bytes.ts', ['test/lib/lp-bytes.test.ts'], {
  'a length is little-endian': ['>>> (24 - 8 * index)', '>>> (8 * index)'],
  'a length is not written': ['part.length >>> (24 - 8 * index)', '0'],
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
