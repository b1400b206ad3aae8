import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { MAP_MAX_BYTES } from '../../src/site/sibling-map.ts';
import {
  bytesOf,
  edited,
  faultOf,
  type Json,
  mapOf,
  mapText,
  ROUTER,
  siteId,
  textOf,
  VALID_MAP,
  validMaps,
} from './map-document.ts';

describe('parseSiblingMap()', () => {
  it('accepts the fixture for each of its sites, and for no other router (R-172, R-176)', () => {
    for (const id of ['site-fr-1', 'site-fr-2', 'site-de-1', 'site-us-1']) {
      assert.equal(faultOf(VALID_MAP, { ...ROUTER, ownSite: siteId(id) }), 'accepted');
    }
    const stranger = { ...ROUTER, ownSite: siteId('site-es-1') };
    assert.equal(faultOf(VALID_MAP, stranger), 'sites: does not list this router\'s site "site-es-1"');
    assert.equal(
      faultOf(VALID_MAP, { ...ROUTER, ownSite: siteId('SITE-FR-1') }),
      'sites: does not list this router\'s site "SITE-FR-1"',
    );
  });
});

describe('parseSiblingMap(), one member against another', () => {
  it('refuses a second site of one ID, compared exactly (R-183)', () => {
    assert.equal(faultOf(edited(VALID_MAP, 'sites[2].id', 'site-fr-1')), 'sites[2].id: already the ID of another site');
    const misplaced = edited(VALID_MAP, 'sites[2]', VALID_MAP.placements[0]);
    assert.equal(faultOf(misplaced), 'sites[2].model: not defined by the schema');
    const otherCase = edited(edited(VALID_MAP, 'placements', []), 'sites[2].id', 'Site-fr-1');
    assert.equal(faultOf(otherCase), 'accepted');
  });

  it('refuses a second site of one normalised URL (R-187, D-63)', () => {
    for (const url of ['https://site-fr-1.example.com', 'HTTPS://SITE-FR-1.example.com:443/']) {
      assert.equal(faultOf(edited(VALID_MAP, 'sites[3].url', url)), 'sites[3].url: already the URL of another site');
    }
    assert.equal(faultOf(edited(VALID_MAP, 'sites[3].url', 'https://site-fr-1.example.com:444')), 'accepted');
  });

  it('names the rule of a bad URL (R-184–R-186)', () => {
    const fault = (url: Json) => faultOf(edited(VALID_MAP, 'sites[1].url', url));
    assert.equal(fault('http://b.example.com'), 'sites[1].url: not an absolute https:// URL');
    assert.equal(fault('https://b.example.com/v1'), 'sites[1].url: has a path, query or fragment');
    assert.equal(fault('https://u:p@b.example.com'), 'sites[1].url: has credentials');
    assert.equal(fault('https://evilexample.com'), 'sites[1].url: host is not below an allowed domain');
    for (const value of [null, 1, {}]) assert.equal(fault(value), 'sites[1].url: not a string');
    assert.equal(
      mapOf(edited(VALID_MAP, 'sites[1].url', 'HTTPS://B.example.com:443/')).sites.get(siteId('site-fr-2'))?.url,
      'https://b.example.com',
    );
  });

  it('refuses a second placement of a model at a site, whatever the kind (R-191)', () => {
    const twice = (kind: string) =>
      edited(VALID_MAP, 'placements[3]', { model: 'm', kind, site: 'site-de-1', scale_from_zero: false });
    for (const kind of ['chat', 'embedding', 'rerank']) {
      assert.equal(faultOf(twice(kind)), 'placements[3]: second placement of this model at this site');
    }
  });

  it('keeps models and sites apart when it looks for a second placement (R-191)', () => {
    const sites = ['a', 'ab'].map((id) => ({ id, url: `https://${id}.example.com`, country: 'FR', eu: true }));
    const placed = (site: string, model: string) => ({ model, kind: 'chat', site, scale_from_zero: false });
    const placements = [placed('a', 'bc'), placed('ab', 'c'), placed('a', 'b c'), placed('ab', ' c')];
    assert.equal(faultOf({ ...VALID_MAP, sites, placements }, { ...ROUTER, ownSite: siteId('a') }), 'accepted');
  });

  it('does not normalise models: two spellings of é are two models (D-71)', () => {
    const at = (index: number, model: string) => [`placements[${index}].model`, model] as const;
    const document = [at(0, '\u00e9'), at(3, 'e\u0301')].reduce<Json>(
      (map, [path, model]) => edited(map, path, model),
      VALID_MAP,
    );
    assert.equal(faultOf(document), 'accepted');
  });

  it('requires hints_expire_at once any placement has a hint, even {} (R-198)', () => {
    const without = edited(VALID_MAP, 'hints_expire_at', undefined);
    for (const hint of [{}, { warm: true }, { load: 'ok' }]) {
      assert.equal(
        faultOf(edited(without, 'placements[4].hint', hint)),
        'hints_expire_at: missing, and a placement has a hint',
      );
    }
    assert.equal(faultOf(without), 'accepted');
    assert.equal(faultOf(edited(VALID_MAP, 'placements[4].hint', {})), 'accepted');
  });

  it('names the first of several broken rules (R-165)', () => {
    const broken = ['placements[0].kind', 'sites[2].eu', 'sites[1].country', 'region'];
    let document: Json = VALID_MAP;
    for (const path of broken) {
      document = edited(document, path, null);
      assert.ok(faultOf(document).startsWith(`${path}: `), faultOf(document));
    }
  });
});

describe('parseSiblingMap(), in steps', () => {
  const inSlices = (document: Json, characters: number, placements: number) =>
    complete(parseSiblingMap(bytesOf(document), ROUTER, { characters, placements }));

  it('reads a valid map in slices of one as in one go (R-163)', () =>
    fc.assert(
      fc.property(validMaps, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 3 }), (document, ...slices) => {
        const sliced = inSlices(document, ...slices);
        assert.ok(sliced.ok);
        const whole = mapOf(document);
        assert.equal(mapText(sliced.value), mapText(whole));
        assert.equal(sliced.value.contentHash, whole.contentHash);
        assert.equal(sliced.value.hasHints, whole.hasHints);
      }),
      { numRuns: 200 },
    ));

  it('blames the same rule in slices of one as in one go (R-165)', () =>
    fc.assert(
      fc.property(
        validMaps,
        fc.constantFrom(...BREAKS),
        fc.constantFrom(...BREAKS),
        fc.nat(),
        (document, one, two, at) => {
          const { placements } = JSON.parse(textOf(document));
          const path = (field: string) => `placements[${at % placements.length}].${field}`;
          const broken = edited(edited(document, path(one[0]), one[1]), path(two[0]), two[1]);
          const sliced = inSlices(broken, 1, 1);
          assert.equal(sliced.ok ? 'accepted' : sliced.fault, faultOf(broken));
        },
      ),
      { numRuns: 200 },
    ));

  it('blames a site that is not listed in its turn, wherever the sites stand (R-165, R-193)', () => {
    const { placements, ...rest } = VALID_MAP;
    const unlisted = edited(edited(placements, '[1].site', 'site-xx-9'), '[1].scale_from_zero', null);
    const broken = edited(unlisted, '[3].kind', null);
    for (const document of [
      { placements: broken, ...rest },
      { ...rest, placements: broken },
    ]) {
      assert.equal(faultOf(document), 'placements[1].site: not the ID of a listed site');
      const listed = edited(document, 'placements[1].site', 'site-de-1');
      assert.equal(faultOf(listed), 'placements[1].scale_from_zero: not true or false');
      const early = edited(document, 'placements[0].site', 'site-xx-9');
      assert.equal(faultOf(early), 'placements[0].site: not the ID of a listed site');
    }
    assert.equal(faultOf({ placements, ...rest }), 'accepted');
    const twice = [...placements, placements[0] ?? null];
    assert.equal(faultOf({ placements: twice, ...rest }), 'placements[5]: second placement of this model at this site');
  });

  it('refuses early what no map needs (A14)', () => {
    const fault = (text: string) => {
      const map = complete(parseSiblingMap(new TextEncoder().encode(text), ROUTER));
      return map.ok ? 'accepted' : map.fault;
    };
    const names = Array.from({ length: 1_001 }, (_, index) => `"${index}":1`);
    assert.equal(
      fault(`[${'0,'.repeat(2_000_000)}0]`),
      'body: more than 1000000 values in the document at byte 1999999',
    );
    assert.match(fault(`{${names}}`), /^body: more than 1000 members in an object at byte /);
    assert.equal(fault(`{${names.slice(1)}}`), 'schema: missing');
    assert.equal(fault(`{"region":"${'a'.repeat(16_385)}"}`), 'body: string longer than 16384 characters at byte 10');
    assert.equal(fault(`{"region":"${'a'.repeat(16_384)}"}`), 'schema: missing');
  });
});

/** Members of a placement and values that they must not have. */
const BREAKS: readonly (readonly [string, Json])[] = [
  ['model', ''],
  ['kind', 'llm'],
  ['site', 'site-xx-9'],
  ['scale_from_zero', 0],
  ['hint', null],
  ['x', 1],
];

describe('parseSiblingMap(), the body', () => {
  const text = textOf(VALID_MAP);
  const faultOfText = (changed: string) => {
    const map = complete(parseSiblingMap(new TextEncoder().encode(changed), ROUTER));
    return map.ok ? 'accepted' : map.fault;
  };

  const REFUSED: Record<string, string> = {
    nothing: '',
    'a byte order mark': `\ufeff${text}`,
    'trailing data': `${text}{}`,
    'a missing end': text.slice(0, -1),
    'a duplicate name in the root': text.replace('{', '{"schema":3,'),
    'a duplicate name in a site': text.replace('"country":"FR"', '"country":"FR","country":"FR"'),
    'a duplicate name in a placement': text.replace('"kind":"chat"', '"kind":"chat","k\\u0069nd":"chat"'),
    'a duplicate name in a hint': text.replace(
      '"scale_from_zero":true',
      '"scale_from_zero":true,"hint":{"warm":true,"warm":true}',
    ),
    'an escaped lone surrogate': text.replace('"m"', '"\\ud800"'),
    'a comment': text.replace('{', '{/**/'),
    'a leading zero': text.replace('"version":', '"version":0'),
    'depth 9': text.replace('{', '{"x":[[[[[[[[]]]]]]]],'),
  };
  for (const [what, changed] of Object.entries(REFUSED)) {
    it(`refuses ${what} (R-174)`, () => assert.match(faultOfText(changed), /^body: (?!not an object)/));
  }

  it('looks at depth 8 before it refuses it (R-174)', () => {
    assert.equal(faultOfText(text.replace('{', '{"x":[[[[[[[]]]]]]],')), 'x: not defined by the schema');
  });

  it('refuses bytes that are not UTF-8 (R-174)', () => {
    for (const byte of [0xff, 0xc0, 0x80]) {
      const bytes = bytesOf(VALID_MAP);
      bytes[bytes.indexOf('"'.charCodeAt(0)) + 1] = byte;
      const map = complete(parseSiblingMap(bytes, ROUTER));
      assert.match(map.ok ? 'accepted' : map.fault, /^body: /);
    }
  });

  it('takes 16 MiB and refuses one byte more (R-175, A14)', () => {
    const padded = (size: number) => {
      const bytes = new Uint8Array(size).fill(0x20);
      bytes.set(bytesOf(VALID_MAP));
      const map = complete(parseSiblingMap(bytes, ROUTER));
      return map.ok ? 'accepted' : map.fault;
    };
    assert.equal(MAP_MAX_BYTES, 16_777_216);
    assert.equal(padded(16_777_216), 'accepted');
    assert.equal(padded(16_777_217), 'body: larger than 16777216 bytes');
  });

  it('takes 1,000 sites and refuses 1,001 (A14)', () => {
    const sites = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        return { id: `site-fr-${index}`, url: `https://s${index}.example.com`, country: 'FR', eu: true };
      });
    const document = (count: number) => ({ ...VALID_MAP, sites: sites(count), placements: [] });
    assert.equal(mapOf(document(1_000)).sites.size, 1_000);
    assert.equal(faultOf(document(1_001)), 'sites: not an array of 1 to 1000 sites');
  });

  it('takes 100,000 placements and refuses 100,001 (A14)', () => {
    const placements = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        return { model: `m${index}`, kind: 'chat', site: 'site-fr-1', scale_from_zero: false };
      });
    assert.equal(mapOf({ ...VALID_MAP, placements: placements(100_000) }).allPlacements.length, 100_000);
    const fault = faultOf({ ...VALID_MAP, placements: placements(100_001) });
    assert.equal(fault, 'placements: not an array of at most 100000 placements');
  });
});
