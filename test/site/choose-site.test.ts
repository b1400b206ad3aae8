import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { explainChoice } from '../../src/site/choose-site.ts';
import { ownScope, parseScope, type Scope } from '../../src/site/scope.ts';
import { EMPTY_MAP, type SiblingMap } from '../../src/site/sibling-map.ts';
import { edited, HINTS_EXPIRE_AT_MS, type Json, mapOf, siteId, VALID_MAP } from './map-document.ts';
import { A, answer, answersOfKeys, ask, B, C, D, mapPlacing, sessionWith } from './site-question.ts';

function scope(header: string): Scope {
  const parsed = parseScope(header);
  assert.ok(parsed !== undefined, header);
  return parsed;
}

describe('chooseSite(), candidates', () => {
  it('takes the sites that the map places the model at, for the kind (R-036)', () => {
    assert.deepEqual(answersOfKeys({}), [C, B, D]);
    assert.deepEqual(answersOfKeys({ model: 'emb', kind: 'embedding' }), [B]);
    assert.deepEqual(answersOfKeys({ model: 'rr', kind: 'rerank' }), [B]);
  });

  it('takes no site of another kind (R-015, D-08)', () => {
    for (const kind of ['embedding', 'rerank'] as const) assert.deepEqual(answersOfKeys({ kind }), ['no_candidate']);
    assert.deepEqual(answersOfKeys({ model: 'emb' }), ['no_candidate']);
  });

  it('has none for an unplaced model and before the first push', () => {
    assert.equal(answer({ model: 'M' }), 'no_candidate');
    assert.equal(answer({ map: EMPTY_MAP }), 'no_candidate');
  });

  it('never takes this site (R-037)', () => {
    const map = mapPlacing({ [A]: {}, [B]: {} });
    assert.deepEqual(answersOfKeys({ map }, 1_000), [B]);
    assert.equal(answer({ map: mapPlacing({ [A]: {} }) }), 'no_candidate');
  });

  it('never takes the site where the request first arrived (R-038)', () => {
    const atB = { here: siteId(B), origin: siteId(A) };
    assert.deepEqual(answersOfKeys({ ...atB, map: mapPlacing({ [A]: {}, [C]: {} }) }), [C]);
    assert.deepEqual(answersOfKeys({ ...atB, map: mapPlacing({ [A]: {} }) }), ['no_candidate']);
  });

  const SCOPES = [
    ['country:DE', [C], 'R-060'],
    ['country:FR', [B], 'R-060'],
    ['EU', [C, B], 'R-061'],
    ['all', [C, B, D], 'R-062'],
    ['country:AQ', ['no_candidate'], 'D-20'],
  ] as const;
  for (const [header, sites, source] of SCOPES) {
    it(`reaches ${sites.join(', ')} within "${header}" (${source})`, () => {
      assert.deepEqual(answersOfKeys({ scope: scope(header) }), sites);
    });
  }

  it('stays in the country of this site by default (R-063, R-064)', () => {
    const own = ownScope(mapOf(VALID_MAP).sites.get(siteId(A)));
    assert.ok(own !== undefined);
    assert.deepEqual(answersOfKeys({ scope: own }), [B]);
    assert.deepEqual(answersOfKeys({ scope: own, map: mapPlacing({ [C]: {} }) }), ['no_candidate']);
  });

  it('chooses as usual with a scope from a site that the map does not list (R-068, D-18)', () => {
    assert.deepEqual(answersOfKeys({ here: siteId('site-es-1'), scope: scope('EU') }), [C, B]);
  });
});

describe('chooseSite(), home set and session', () => {
  const thirty = Array.from({ length: 30 }, (_, index) => `site-x-${index}`);
  const wide = mapOf({
    ...VALID_MAP,
    sites: [A, ...thirty].map((id) => ({ id, url: `https://${id}.example.com`, country: 'FR', eu: true })),
    placements: thirty.map((site) => ({ model: 'm', kind: 'chat', site, scale_from_zero: true })),
  });
  const sessions = Array.from({ length: 2_000 }, (_, index) => Buffer.from(`conv-${index}`));

  it('reaches two of 30 sites over all sessions of one key, each about half the time (R-042, R-046)', () => {
    const targets = sessions.map((session) => answer({ map: wide, session }));
    assert.equal(new Set(targets).size, 2);
    const share = targets.filter((target) => target === targets[0]).length / targets.length;
    assert.ok(Math.abs(share - 0.5) < 0.05, String(share));
  });

  it('reaches all of them over many keys', () => assert.equal(answersOfKeys({ map: wide }, 400).length, 30));

  it('reaches one site without a session, and one per session (R-045, R-044)', () => {
    assert.equal(new Set(Array.from({ length: 50 }, () => answer({ map: wide }))).size, 1);
    const [session = new Uint8Array()] = sessions;
    assert.equal(new Set(Array.from({ length: 50 }, () => answer({ map: wide, session }))).size, 1);
  });

  it('excludes this site and the origin before it takes the home set (D-09)', () => {
    for (const origin of thirty.slice(0, 10)) {
      const targets = answersOfKeys({ map: wide, here: siteId('site-x-29'), origin: siteId(origin) });
      assert.ok(!targets.includes(origin) && !targets.includes('site-x-29') && !targets.includes('no_candidate'));
    }
  });
});

const WARM = {};
const COLD = { hint: { warm: false } };
const COLD_FOR_GOOD = { hint: { warm: false }, scale_from_zero: false };
const FULL = { hint: { load: 'full' } };
const BUSY = { hint: { load: 'busy' } };
const FULL_AND_COLD = { hint: { warm: false, load: 'full' } };
const EMPTY_HINT = { hint: {} };

type Members = { readonly [name: string]: Json };
/** What the hints say of the first and the second site in session order and of this site, and the answer. */
type HintCase = readonly [what: string, first: Members, second: Members, here: Members | undefined, expected: string];

const HINT_CASES: readonly HintCase[] = [
  ['wakes the model here when both are cold (R-048)', COLD, COLD, WARM, 'wake_here'],
  ['wakes it here though both are cold for good or full (R-048)', FULL_AND_COLD, COLD_FOR_GOOD, WARM, 'wake_here'],
  ['wakes it here though it is cold here, too (R-048)', COLD, COLD, COLD, 'wake_here'],
  ['does not wake it here beside one warm site (R-049)', COLD, EMPTY_HINT, WARM, 'second'],
  ['does not wake it here beside one warm site, even a full one (R-049)', COLD, FULL, WARM, 'first'],
  ['does not wake it here without a placement (R-051)', COLD, COLD, undefined, 'first'],
  ['does not wake it here without scale from zero (R-051)', COLD, COLD, { scale_from_zero: false }, 'first'],
  ['does not wake it here for another kind (R-051)', COLD, COLD, { kind: 'embedding' }, 'first'],
  ['skips a full site (R-053)', FULL, EMPTY_HINT, undefined, 'second'],
  ['skips a full site for a cold one that can wake (R-053)', FULL, COLD, undefined, 'second'],
  ['skips a cold site without scale from zero (R-054)', COLD_FOR_GOOD, COLD, undefined, 'second'],
  ['does not skip a warm site without scale from zero', { scale_from_zero: false }, COLD, undefined, 'first'],
  ['prefers a warm site to a cold one (R-055)', COLD, EMPTY_HINT, undefined, 'second'],
  ['prefers a cold site that can wake to a full one', COLD, FULL, undefined, 'first'],
  ['keeps to the session order among warm sites', EMPTY_HINT, EMPTY_HINT, undefined, 'first'],
  ['keeps to the session order among cold sites', COLD, COLD, undefined, 'first'],
  ['does not mind a busy site (R-056)', BUSY, EMPTY_HINT, WARM, 'first'],
  ['takes the first when both are full (R-057)', FULL, FULL, WARM, 'first'],
  ['takes the first when both would be skipped (R-057)', COLD_FOR_GOOD, FULL, undefined, 'first'],
  ['takes the first when both would be skipped, warm or not (R-057)', FULL_AND_COLD, FULL, undefined, 'first'],
  ['takes a site without a hint for warm (R-059)', COLD, WARM, WARM, 'second'],
  ['takes a site without a hint for not full (R-059)', FULL, WARM, WARM, 'second'],
  ['takes an empty hint for warm and not full (D-13)', EMPTY_HINT, COLD, WARM, 'first'],
];

/** The answer as `first`, `second` or the reason to stay, with each of B and C as the first site. */
function answersByHints([, first, second, here]: HintCase, more: { nowMs?: number; canHold?: boolean } = {}) {
  return [
    [B, C],
    [C, B],
  ].map(([one = '', other = '']) => {
    const map = mapPlacing({ ...(here && { [A]: here }), [one]: first, [other]: second });
    const found = answer({ map, session: sessionWith(one, other), ...more });
    return { [one]: 'first', [other]: 'second' }[found] ?? found;
  });
}

describe('chooseSite(), hints', () => {
  for (const hintCase of HINT_CASES) {
    const [what, , , , expected] = hintCase;
    it(what, () => assert.deepEqual(answersByHints(hintCase), [expected, expected]));
  }

  it('ignores every hint from hints_expire_at on (R-050, R-058, D-15)', () => {
    for (const hintCase of HINT_CASES) {
      for (const nowMs of [HINTS_EXPIRE_AT_MS, HINTS_EXPIRE_AT_MS + 1]) {
        assert.deepEqual(answersByHints(hintCase, { nowMs }), ['first', 'first'], hintCase[0]);
      }
    }
  });

  it('does not wake the model here when this router cannot hold (D-05)', () => {
    for (const hintCase of HINT_CASES) {
      assert.ok(!answersByHints(hintCase, { canHold: false }).includes('wake_here'), hintCase[0]);
    }
  });

  it('wakes the model here for a cold home set of one (R-048)', () => {
    assert.equal(answer({ map: mapPlacing({ [A]: WARM, [B]: COLD }) }), 'wake_here');
    assert.equal(answer({ map: mapPlacing({ [A]: WARM, [B]: EMPTY_HINT }) }), B);
  });

  it('does not wake the model here without candidates (D-17)', () => {
    assert.equal(answer({ map: mapPlacing({ [A]: COLD }) }), 'no_candidate');
    assert.equal(answer({ map: mapPlacing({ [A]: COLD, [D]: COLD }), scope: scope('EU') }), 'no_candidate');
  });

  it('looks at the home set only, not at a warm site outside it (R-052)', () => {
    const homeOf = (map: SiblingMap) => explainChoice(ask({ map })).filter(({ reason }) => reason === 'not_home');
    const [outside] = homeOf(mapOf(VALID_MAP));
    assert.ok(outside !== undefined);
    const cold = mapPlacing({ [A]: COLD, [B]: COLD, [C]: COLD, [D]: COLD, [outside.site]: EMPTY_HINT });
    assert.equal(answer({ map: cold }), 'wake_here');
  });

  it('looks at the hints of the kind asked for', () => {
    const embedding = [A, B, C].map((site) => ({
      model: 'e',
      kind: 'embedding',
      site,
      scale_from_zero: true,
      ...COLD,
    }));
    const map = mapOf(edited(VALID_MAP, 'placements', [...VALID_MAP.placements, ...embedding]));
    assert.notEqual(answer({ map }), 'wake_here');
    assert.equal(answer({ map, model: 'e', kind: 'embedding' }), 'wake_here');
  });
});

describe('explainChoice()', () => {
  const explain = (question: Parameters<typeof ask>[0]) =>
    Object.fromEntries(explainChoice(ask(question)).map(({ site, reason }) => [site, reason]));
  const session = sessionWith(B, C);

  it('tells why a site is no candidate', () => {
    const map = mapPlacing({ [A]: {}, [B]: {}, [C]: {}, [D]: {} });
    const question = { map, here: siteId(B), origin: siteId(A), scope: scope('EU') };
    assert.deepEqual(explain(question), { [A]: 'origin', [B]: 'self', [D]: 'scope' });
    assert.deepEqual(explain({ map: EMPTY_MAP }), {});
  });

  const REASONS: readonly (readonly [Members, Members, Members | undefined, object])[] = [
    [WARM, WARM, undefined, { [C]: 'later_in_session_order' }],
    [FULL, EMPTY_HINT, undefined, { [B]: 'full' }],
    [COLD_FOR_GOOD, COLD, undefined, { [B]: 'cold' }],
    [COLD, EMPTY_HINT, undefined, { [B]: 'cold' }],
    [COLD, COLD, undefined, { [C]: 'later_in_session_order' }],
    [EMPTY_HINT, COLD, undefined, { [C]: 'cold' }],
    [FULL, FULL, undefined, { [C]: 'full' }],
    [COLD, COLD, WARM, { [A]: 'self', [B]: 'cold', [C]: 'cold' }],
  ];
  for (const [first, second, here, reasons] of REASONS) {
    it(`tells ${JSON.stringify(reasons)} for ${JSON.stringify([first, second, here])}`, () => {
      const map = mapPlacing({ ...(here && { [A]: here }), [B]: first, [C]: second });
      assert.deepEqual(explain({ map, session }), reasons);
    });
  }

  it('tells which site is not in the home set, and ignores stale hints', () => {
    const map = mapPlacing({ [B]: FULL, [C]: FULL, [D]: FULL });
    const reasons = Object.values(explain({ map, nowMs: HINTS_EXPIRE_AT_MS }));
    assert.deepEqual(reasons.sort(), ['later_in_session_order', 'not_home']);
  });
});
