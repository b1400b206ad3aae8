import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { SiblingMapStore } from '../../src/site/sibling-map-store.ts';
import { FIELD_RULES, nth, REQUIRED, shown } from './field-rules.ts';
import {
  edited,
  faultOf,
  type Json,
  mapOf,
  mapText,
  RawJson,
  ROUTER,
  textOf,
  VALID_MAP,
  validMaps,
} from './map-document.ts';

describe('parseSiblingMap(), one member', () => {
  for (const [path, { rule, source, refused, taken }] of Object.entries(FIELD_RULES)) {
    const at = nth(path, 1);
    for (const value of refused) {
      it(`refuses ${path} ${shown(value)}: ${rule} (${source})`, () => {
        assert.equal(faultOf(edited(VALID_MAP, at, value)), `${at}: ${rule}`);
      });
    }
    for (const value of taken) {
      it(`takes ${path} ${shown(value)} (${source})`, () =>
        assert.equal(faultOf(edited(VALID_MAP, at, value)), 'accepted'));
    }
  }

  for (const path of REQUIRED) {
    const at = nth(path, 2);
    it(`requires ${path} (1.15)`, () => assert.equal(faultOf(edited(VALID_MAP, at, undefined)), `${at}: missing`));
  }

  for (const path of ['generated_at', 'hints_expire_at', 'placements[2].hold_budget', 'placements[2].hint']) {
    it(`does not require ${path}`, () => assert.equal(faultOf(edited(VALID_MAP, path, undefined)), 'accepted'));
  }

  for (const schema of ['0', '2', '4', '999999999']) {
    it(`says that schema ${schema} is not supported, before anything else is read (R-177)`, () => {
      const older = edited(edited(VALID_MAP, 'policlouds', []), 'sites', undefined);
      const fault = `schema: schema ${schema} is not supported, only schema 3 is`;
      assert.equal(faultOf(edited(older, 'schema', new RawJson(schema))), fault);
    });
  }

  for (const path of ['sites[0]', 'sites[3]', 'placements[0]', 'placements[4]']) {
    it(`refuses a ${path} that is no object`, () => {
      for (const value of [null, 1, 'x', [], true])
        assert.equal(faultOf(edited(VALID_MAP, path, value)), `${path}: not an object`);
    });
  }

  for (const document of [null, [], 'map', 3, true, [VALID_MAP]]) {
    it(`refuses a body ${shown(document)} (R-174)`, () => assert.equal(faultOf(document), 'body: not an object'));
  }
});

describe('parseSiblingMap(), an undefined member', () => {
  const UNDEFINED = [
    ...'policlouds Sites Schema VERSION hintsExpireAt __proto__ constructor toString scale-from-zero'.split(' '),
    ...'sites[0].x sites[1].ID sites[1].__proto__ placements[0].x placements[1].Hint'.split(' '),
    ...'placements[2].scaleFromZero placements[1].hint.x placements[1].hint.Warm placements[1].hint.__proto__'.split(
      ' ',
    ),
  ];
  for (const path of UNDEFINED) {
    it(`refuses ${path} (R-178, D-57)`, () => {
      for (const value of [1, null, {}]) {
        assert.equal(faultOf(edited(VALID_MAP, path, value)), `${path}: not defined by the schema`);
      }
    });
  }

  it('repeats at most 64 characters of its name', () => {
    const name64 = 'x'.repeat(64);
    assert.equal(faultOf({ ...VALID_MAP, [name64]: 1 }), `${name64}: not defined by the schema`);
    assert.equal(faultOf({ ...VALID_MAP, [`${name64}y`]: 1 }), `${name64}…: not defined by the schema`);
  });

  for (const name of ['', ' ', 'a b', 'a\nb', '模', '\u001b[31m', 'a\u007f', '\u202e']) {
    it(`does not repeat the name ${JSON.stringify(name)}`, () => {
      assert.equal(faultOf({ ...VALID_MAP, [name]: 1 }), 'body: has a member that the schema does not define');
    });
  }
});

describe('parseSiblingMap(), random maps', () => {
  const fieldRules = Object.entries(FIELD_RULES);
  const cases = (which: 'refused' | 'taken') =>
    fc.constantFrom(
      ...fieldRules.flatMap(([path, rules]) => rules[which].map((value) => ({ path, value, rule: rules.rule }))),
    );
  const indices = fc.nat({ max: 15 });

  /** The path with a random index that the document has. */
  function pathIn(document: Json, path: string, index: number): string {
    const { sites, placements } = JSON.parse(textOf(document));
    return nth(path, index % (path.startsWith('sites') ? sites : placements).length);
  }

  /** The document as `GET` answers it: with the defaults of a hint. */
  function asShown(document: Json): unknown {
    const { placements, ...members } = JSON.parse(textOf(document));
    const filled = placements.map((placement: { readonly hint?: object }) =>
      placement.hint === undefined ? placement : { ...placement, hint: { warm: true, load: 'ok', ...placement.hint } },
    );
    return { ...members, placements: filled };
  }

  /** One edit that makes any valid map invalid: a bad value, a member gone, one too many, or the double of another. */
  const spoilers = fc.oneof(
    { weight: 4, arbitrary: cases('refused') },
    fc.constantFrom(...REQUIRED.map((path) => ({ path, value: undefined, rule: 'missing' }))),
    fc.constantFrom(
      ...['x', 'sites[].x', 'sites[].Url', 'placements[].x', 'placements[].holdBudget'].map((path) => {
        return { path, value: 1, rule: 'not defined by the schema' };
      }),
    ),
    fc.constantFrom(
      { path: 'sites[].url', value: 'http://b.example.com', rule: 'not an absolute https:// URL' },
      { path: 'sites[].url', value: 'https://b.example.com/v1', rule: 'has a path, query or fragment' },
      { path: 'sites[].url', value: 'https://u@b.example.com', rule: 'has credentials' },
      { path: 'sites[].url', value: 'https://evilexample.com', rule: 'host is not below an allowed domain' },
      { path: 'sites[].url', value: 'https://b_.example.com', rule: 'host is not a DNS name' },
      { path: 'sites[].url', value: 'https://b.example.com:0', rule: 'port is not a number from 1 to 65535' },
    ),
  );

  it('are refused for any one bad edit, by path and rule, and the map held stays (R-164, P-12)', () =>
    fc.assert(
      fc.property(validMaps, spoilers, indices, (document, { path, value, rule }, index) => {
        const maps = new SiblingMapStore();
        maps.replace(mapOf(document));
        const before = mapText(maps.current());
        const at = pathIn(document, path, index);
        assert.equal(faultOf(edited(document, at, value)), `${at}: ${rule}`);
        assert.equal(mapText(maps.current()), before);
      }),
      { numRuns: 500 },
    ));

  const otherUrls = fc
    .constantFrom('https://other.example.com', 'https://other.a.example.com:8443', 'https://xn--bcher-kva.example.com')
    .map((value) => ({ path: 'sites[].url', value }));

  it('take every valid value, and GET shows it (R-164, P-12)', () =>
    fc.assert(
      fc.property(validMaps, fc.oneof(cases('taken'), otherUrls), indices, (document, { path, value }, index) => {
        const changed = edited(document, pathIn(document, path, index), value);
        const answered = mapText(mapOf(changed));
        assert.deepEqual(JSON.parse(answered), asShown(changed));
        assert.equal(/"version":([0-9]+)/.exec(answered)?.[1], /"version":([0-9]+)/.exec(textOf(changed))?.[1]);
      }),
      { numRuns: 300 },
    ));

  it('are the same map again when what GET shows is pushed (R-170)', () =>
    fc.assert(
      fc.property(validMaps, (document) => {
        const answered = mapText(mapOf(document));
        const again = complete(parseSiblingMap(new TextEncoder().encode(answered), ROUTER));
        assert.ok(again.ok);
        assert.equal(mapText(again.value), answered);
      }),
      { numRuns: 200 },
    ));
});
