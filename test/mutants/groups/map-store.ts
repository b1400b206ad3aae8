// The sibling map as it is held, pushed and shown.

import { type Mutant, mutantsOf } from '../mutant.ts';

const STORE: readonly Mutant[] = [
  ...mutantsOf('src/site/sibling-map-store.ts', ['test/site/sibling-map-store.test.ts'], {
    'a lower version is taken': [
      'if (map.version < previous.version) return fault({ currentVersion: previous.version });',
      '',
    ],
    'an equal version is refused': ['map.version < previous.version', 'map.version <= previous.version'],
    'versions are compared as numbers': [
      'map.version < previous.version',
      'Number(map.version) < Number(previous.version)',
    ],
    'a push is not kept': ['    this.#map = map;\n', ''],
    'a refused push is kept': [
      '    if (map.version < previous',
      '    this.#map = map;\n    if (map.version < previous',
    ],
    'a push keeps the sites of the map before': [
      'this.#map = map;',
      'this.#map = { ...map, sites: new Map([...previous.sites, ...map.sites]) };',
    ],
    'a push keeps the placements of the map before': [
      'this.#map = map;',
      'this.#map = { ...previous, version: map.version };',
    ],
    'the first push of version 0 is a replay': ['previous !== EMPTY_MAP && ', ''],
    'a replay is always a change': ['isReplay && map.contentHash !== previous.contentHash', 'isReplay'],
    'a replay is never a change': ['isReplay && map.contentHash !== previous.contentHash', 'false'],
    'a new version is a silent change': ['isReplay && map.contentHash', 'map.contentHash'],
  }),
  ...mutantsOf('src/http/admin/sibling-map.ts', ['test/http/sibling-map.test.ts', 'test/http/metrics.test.ts'], {
    'a stale push is a 400': ['jsonText(409', 'jsonText(400'],
    'an invalid push is a 422': ['adminError(400', 'adminError(422'],
    'the version is compared before the document is read': [
      '  const parsed = await ports.turns.complete(',
      `  const sent = /"version":\\s*([0-9]+)/.exec(new TextDecoder().decode(body))?.[1] ?? '0';
  const held = redirect.maps.current().version;
  if (BigInt(sent) < held) return jsonText(409, \`{"error":"stale version","current_version":\${held}}\`);
  const parsed = await ports.turns.complete(`,
    ],
    'a map is read for another site': ['ownSite: redirect.siteId', "ownSite: 'site-de-1' as typeof redirect.siteId"],
    'the map is shown with the feature off': [
      'if (redirect === undefined) return adminError(501, DISABLED);',
      'if (redirect === undefined) return adminError(404, DISABLED);',
    ],
    'a map that changed without a new version is no news': ['replaced.value.changedSilently', 'false'],
    'an odd map is no news': ['warnAboutMap(map, ports.nowMs())', '[]'],
  }),
  ...mutantsOf('src/site/map-warnings.ts', ['test/site/map-warnings.test.ts'], {
    'hints may stay for a millisecond more than 1 h': [
      'HINTS_MAX_AHEAD_MS = 3_600_000',
      'HINTS_MAX_AHEAD_MS = 3_600_001',
    ],
    'hints may not stay for 1 h': ['- nowMs > HINTS', '- nowMs >= HINTS'],
  }),
];

const INDEX: readonly Mutant[] = mutantsOf(
  'src/site/sibling-map.ts',
  [
    'test/site/sibling-map.test.ts',
    'test/site/schema-3.test.ts',
    'test/site/parse-sibling-map.test.ts',
    'test/http/sibling-map.test.ts',
  ],
  {
    'a map may have 16 MiB and a byte': ['MAP_MAX_BYTES = 16 * 1024 * 1024', 'MAP_MAX_BYTES = 16 * 1024 * 1024 + 1'],
    'a map may not have 16 MiB': ['MAP_MAX_BYTES = 16 * 1024 * 1024', 'MAP_MAX_BYTES = 16 * 1024 * 1024 - 1'],
    'a map may have 1,001 sites': ['MAP_MAX_SITES = 1_000', 'MAP_MAX_SITES = 1_001'],
    'a map may have 100,001 placements': ['MAP_MAX_PLACEMENTS = 100_000', 'MAP_MAX_PLACEMENTS = 100_001'],
    'the map before the first push has version 1': ['version: 0n', 'version: 1n'],
    'a placement is found at any site': ['.find(({ site }) => site.id === at)', '.at(0)'],
  },
);

const SHOWN: readonly Mutant[] = mutantsOf(
  'src/site/format-sibling-map.ts',
  ['test/site/sibling-map.test.ts', 'test/site/schema-3.test.ts'],
  {
    'the version that is shown has lost its digits': ['"version":${map.version}', '"version":${Number(map.version)}'],
    'a hold budget is not shown': ['hold_budget: holdBudget, hint }', 'hint }'],
    'two pieces are shown without a comma': ["start === 0 ? '' : ','", "''"],
  },
);

const TURNS: readonly Mutant[] = [
  ...mutantsOf('src/http/admin/push-queue.ts', ['test/http/push-queue.test.ts'], {
    'pushes are read side by side': ['this.#last.then(read)', 'Promise.resolve().then(read)'],
    'a push that threw holds up all others': ['turn.catch(() => undefined)', 'turn'],
  }),
  ...mutantsOf('src/http/turns.ts', ['test/http/turns.test.ts'], {
    'a turn never ends': ['this.#turnEndsMs = this.#monotonicMs() + TURN_MS', 'this.#turnEndsMs = Infinity'],
  }),
];

export const MAP_STORE: readonly Mutant[] = [...STORE, ...INDEX, ...SHOWN, ...TURNS];
