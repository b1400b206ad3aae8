// The searches of 6.2 in small: the first of its worlds in full, and each search once with a rule that is wrong,
// to show that it would find it out. `make check-model` runs them all.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fallbackPassage } from '../../src/redirect/next-hop.ts';
import { NEW_PASSAGE } from '../../src/routing/decide-route.ts';
import { plainClients } from './clients.ts';
import { type HoldRule, searchEvents } from './events.ts';
import type { Exit } from './router.ts';
import { RouterSet } from './router-set.ts';
import { MISROUTED, SCOPES, SMALL_UNIVERSE, THREE_SITES } from './searches.ts';
import { search } from './spaces.ts';
import { literalPassage, type PassageRule, type Token } from './token-desk.ts';
import { SITES } from './world.ts';

/** The largest take half a second on an idle machine; there are others. */
const PATIENT = { timeout: 60_000 };

const FOLLOWERS = plainClients(({ shows, repeats }) => shows === 'nothing' && !repeats);
const SITE_NUMBERS = SITES.map((_, site) => site);
const VIEWS = Array.from({ length: 1 << SITES.length }, (_, view) => view);

function routerAt(routers: RouterSet, site: number, view: number) {
  return routers.in({ site, view, local: 'none', secrets: 'old', auth: 'keys', clockMs: 0 });
}

function targetsOf(exits: readonly Exit[]): readonly string[] {
  return exits.flatMap((exit) => (exit.kind === 'redirect' ? exit.token.claims.target : []));
}

/** The tokens of a site for every client, and the names of their targets. */
function firstRedirects(routers: RouterSet, start: number, view: number) {
  const router = routerAt(routers, start, view);
  return FOLLOWERS.flatMap((client) =>
    router.exits(router.enter({ client, token: undefined, isRepeat: false })).map((exit) => ({ client, exit })),
  );
}

function placed(view: number, ...excluded: readonly number[]): readonly string[] {
  return SITES.flatMap(({ id }, site) => ((view >> site) & 1 && !excluded.includes(site) ? id : []));
}

describe('the modelled clients', () => {
  it('reach every candidate from every site, whatever its map (R-036)', () => {
    const routers = new RouterSet();
    for (const start of SITE_NUMBERS) {
      for (const view of VIEWS) {
        const targets = targetsOf(firstRedirects(routers, start, view).map(({ exit }) => exit));
        assert.deepEqual([...new Set(targets)].sort(), placed(view, start));
      }
    }
  });

  it('reach every candidate of a second redirect too', () => {
    const routers = new RouterSet();
    for (const start of SITE_NUMBERS) {
      for (const { client, exit } of firstRedirects(routers, start, 0b1111)) {
        assert.ok(exit.kind === 'redirect');
        const token: Token = exit.token;
        const at = SITES.findIndex(({ id }) => id === token.claims.target);
        for (const view of VIEWS) {
          const router = routerAt(routers, at, view);
          const targets = targetsOf(router.exits(router.enter({ client, token, isRepeat: false })));
          assert.deepEqual([...targets].sort(), placed(view, at, start));
        }
      }
    }
  });
});

describe('three sites, whatever their maps, agents, secrets and keys', () => {
  it('never redirect three times nor back, and serve what they promise (R-123, R-138, R-139, S75)', PATIENT, () => {
    const { trace, ...counts } = search(new RouterSet(), THREE_SITES);
    // The transition function of Appendix B gives the same three numbers, once it asks for the key at the start too.
    const byRedirects = [1_277_952, 270_720, 24_192];
    assert.equal(trace, undefined);
    assert.deepEqual(counts, { cases: 1_572_864, byRedirects, violations: 0, endless: 0, promised: 888 });
  });

  it('never redirect out of the scope that was asked for (R-036, R-060–R-063)', PATIENT, () => {
    const { violations, trace } = search(new RouterSet(), SCOPES);
    assert.equal(violations, 0, `${trace}`);
  });

  it('would loop if a refused token made a literally new request: the loop over two secrets (D-33)', PATIENT, () => {
    const { endless, trace } = search(new RouterSet(literalPassage), THREE_SITES);
    assert.equal(endless, 13_440); // as Appendix B
    assert.match(`${trace}`, /refused as signature, enters with 0 redirects behind it → 307 to site-a/);
  });

  it(
    'would loop if a refused token made a literally new request: the loop over a misrouted URL (D-33)',
    PATIENT,
    () => {
      const routes = [[0, 0, 2]];
      const { endless, trace } = search(new RouterSet(literalPassage), { ...MISROUTED, routes });
      assert.ok(endless > 0);
      assert.match(`${trace}`, /the URL of site-b leads to site-a/);
      assert.equal(search(new RouterSet(), { ...MISROUTED, routes }).violations, 0);
    },
  );
});

describe('routers that anything may befall between two redirects', () => {
  it('never redirect three times nor back (R-123, R-138, R-139)', PATIENT, () => {
    const { violation, trace, byRedirects } = searchEvents(new RouterSet(), SMALL_UNIVERSE);
    assert.equal(violation, undefined, `${trace}`);
    assert.deepEqual(byRedirects, [6, 72, 72]);
  });

  it('would break that if a held request were decided again as a new one', PATIENT, () => {
    const rule: HoldRule = ({ id, ...admitted }) => ({ ...admitted, id: -id, passage: NEW_PASSAGE });
    const { violation, trace } = searchEvents(new RouterSet(), SMALL_UNIVERSE, () => undefined, rule);
    assert.equal(violation, 'back to the origin', `${trace}`);
  });

  const forgetful: PassageRule = (refusal) => ({ ...fallbackPassage(refusal), origin: undefined });
  const generous: PassageRule = ({ authentic }) => ({ hops: authentic?.hop ?? 1, origin: authentic?.origin });
  for (const [what, rule, expected] of [
    ['the number of redirects', literalPassage, 'hop not counted'],
    ['the origin', forgetful, 'back to the origin'],
    ['that a forged token proves nothing', generous, 'back to the origin'],
  ] as const) {
    it(`would break that with a rule that forgets ${what}`, PATIENT, () => {
      const { violation, trace } = searchEvents(new RouterSet(rule), SMALL_UNIVERSE);
      assert.equal(violation, expected, `${trace}`);
    });
  }
});
