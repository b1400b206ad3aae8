import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { decideRoute, type LocalPresence, NEW_PASSAGE, type RouteFacts, stay } from '../../src/routing/decide-route.ts';
import { parseScope } from '../../src/site/scope.ts';
import { EMPTY_MAP } from '../../src/site/sibling-map.ts';
import {
  edited,
  HINTS_EXPIRE_AT_MS,
  type Json,
  mapOf,
  ROUTER,
  siteId,
  VALID_MAP,
  validMaps,
} from '../site/map-document.ts';

const NOW_MS = Date.UTC(2026, 10, 3, 12);
const MAP = mapOf(VALID_MAP);
const PRESENCES: readonly LocalPresence[] = ['healthy', 'unhealthy', 'none'];

/** A new chat request for `m` at site A, within the country, with nothing local. */
function facts(change: Partial<RouteFacts> = {}): RouteFacts {
  return {
    local: 'none',
    hasLastResort: false,
    model: 'm',
    kind: 'chat',
    keyId: 'key-1',
    session: Buffer.alloc(0),
    passage: NEW_PASSAGE,
    scope: parseScope('country:FR'),
    here: { siteId: ROUTER.ownSite, map: MAP },
    defaultHoldMs: 120_000,
    maxWaitMs: undefined,
    ...change,
  };
}

/** `serve`, `hold`, `noAgents`, `notFound`, or the site that is named. */
function decide(change: Partial<RouteFacts> = {}, nowMs: number = NOW_MS): string {
  const decision = decideRoute(facts(change), nowMs);
  return decision.kind === 'redirect' ? decision.target.id : decision.kind;
}

/** A cold placement that its site starts when a request arrives. */
function wakes(site: string): Record<string, Json> {
  return { model: 'm', kind: 'chat', site, scale_from_zero: true, hint: { warm: false } };
}

/** Site A, with a map of these placements. */
function placedAt(...placements: readonly Json[]): RouteFacts['here'] {
  return { siteId: ROUTER.ownSite, map: mapOf(edited(VALID_MAP, 'placements', placements)) };
}

describe('decideRoute()', () => {
  it('redirects what no local agent serves to the site in scope (R-026)', () => {
    assert.equal(decide(), 'site-fr-2');
  });

  it('serves here whatever the map says once a healthy agent is here (R-021)', () => {
    return fc.assert(
      fc.property(validMaps, fc.constantFrom('all', 'EU', 'country:FR'), (document, scope) => {
        const here = { siteId: ROUTER.ownSite, map: mapOf(document) };
        assert.equal(decide({ local: 'healthy', here, scope: parseScope(scope) }), 'serve');
      }),
      { numRuns: 50 },
    );
  });

  it('redirects also when all local agents are down (R-024)', () => {
    assert.equal(decide({ local: 'unhealthy' }), 'site-fr-2');
  });

  it('redirects before a provider is asked (R-032)', () => {
    for (const local of ['unhealthy', 'none'] as const) {
      assert.equal(decide({ local, hasLastResort: true }), 'site-fr-2');
      assert.equal(decide({ local, hasLastResort: true, scope: undefined }), 'serve');
    }
  });

  const stays: readonly (readonly [string, Partial<RouteFacts>])[] = [
    ['redirected twice already (R-025)', { passage: { hops: 2, origin: siteId('site-us-1') } }],
    ['a fallback of a token that nobody signed (D-33)', { passage: { hops: 2, origin: undefined } }],
    ['without a scope, since this site is not in the map (R-068)', { scope: undefined }],
    ['with the feature off (R-001)', { here: undefined }],
    ['with an empty map (R-007)', { here: { siteId: ROUTER.ownSite, map: EMPTY_MAP } }],
    ['for a model that no site has', { model: 'other' }],
    ['for a model of another kind (R-015)', { kind: 'embedding' }],
    ['when the only site in scope is the origin (R-038)', { passage: { hops: 1, origin: siteId('site-fr-2') } }],
    ['when nothing lies in the scope (R-064)', { scope: parseScope('country:AD') }],
  ];
  for (const [when, change] of stays) {
    it(`ends here ${when}: 503 when agents are down, 404 when there are none (R-029)`, () => {
      assert.deepEqual(
        PRESENCES.map((local) => decide({ ...change, local })),
        ['serve', 'noAgents', 'notFound'],
      );
    });
  }

  it('redirects once more after one hop, and not to the origin (R-038, R-088)', () => {
    const passage = { hops: 1, origin: siteId('site-de-1') } as const;
    const seen = new Set(
      Array.from({ length: 64 }, (_, index) => decide({ passage, scope: parseScope('EU'), keyId: `key-${index}` })),
    );
    assert.deepEqual([...seen], ['site-fr-2']);
  });

  it('spreads keys over the sites, and sends one key always to the same (R-039, R-044, R-045)', () => {
    const scope = parseScope('all');
    const keys = Array.from({ length: 64 }, (_, index) => `key-${index}`);
    const targets = keys.map((keyId) => decide({ scope, keyId }));
    assert.equal(new Set(targets).size, 3);
    assert.deepEqual(
      keys.map((keyId) => decide({ scope, keyId })),
      targets,
    );
  });

  it('spreads the sessions of one key over two sites (R-042, R-046)', () => {
    const scope = parseScope('all');
    const targets = Array.from({ length: 64 }, (_, index) => decide({ scope, session: Buffer.from(`s-${index}`) }));
    assert.equal(new Set(targets).size, 2);
  });

  it('carries the scope of the request into the redirect (R-069, R-071)', () => {
    for (const text of ['all', 'EU', 'country:DE']) {
      const decision = decideRoute(facts({ scope: parseScope(text) }), NOW_MS);
      assert.ok(decision.kind === 'redirect', text);
      assert.deepEqual(decision.scope, parseScope(text));
    }
  });

  it('holds here what a cold sibling would only have to wake as well (R-048)', () => {
    assert.equal(decide({ here: placedAt(wakes('site-fr-2'), wakes('site-fr-1')) }), 'hold');
  });

  it('redirects to the cold sibling when it cannot hold: no budget here, or a client that does not wait (D-05)', () => {
    const here = placedAt(wakes('site-fr-2'), wakes('site-fr-1'));
    assert.equal(decide({ here, defaultHoldMs: 0 }), 'site-fr-2');
    assert.equal(decide({ here, maxWaitMs: 0 }), 'site-fr-2');
    assert.equal(decide({ here, maxWaitMs: 1 }), 'hold');
    const ownBudget = placedAt(wakes('site-fr-2'), { ...wakes('site-fr-1'), hold_budget: '2s' });
    assert.equal(decide({ here: ownBudget, defaultHoldMs: 0 }), 'hold');
  });

  it('redirects to a warm sibling, whatever could be woken here (R-049, R-050)', () => {
    const warm = { ...wakes('site-fr-2'), hint: { warm: true } };
    const here = placedAt(warm, wakes('site-fr-1'));
    assert.equal(decide({ here }), 'site-fr-2');
    assert.equal(decide({ here: placedAt(wakes('site-fr-2'), wakes('site-fr-1')) }, HINTS_EXPIRE_AT_MS), 'site-fr-2');
  });

  it('holds what no sibling has and this site can start, unless a healthy agent is here (R-030)', () => {
    const here = placedAt(wakes('site-fr-1'));
    assert.deepEqual(
      PRESENCES.map((local) => decide({ here, local })),
      ['serve', 'hold', 'hold'],
    );
  });

  it('holds also after two redirects, and for a client that nobody signed for (R-025, R-136, R-140)', () => {
    const here = placedAt(wakes('site-fr-2'), wakes('site-fr-1'));
    assert.equal(decide({ here, passage: { hops: 2, origin: siteId('site-us-1') } }), 'hold');
    assert.equal(decide({ here, passage: { hops: 2, origin: undefined } }), 'hold');
  });

  const notHeld: readonly (readonly [string, Partial<RouteFacts>])[] = [
    ['is not to be started here (R-031)', { here: placedAt({ ...wakes('site-fr-1'), scale_from_zero: false }) }],
    ['is not placed here (R-031)', { here: placedAt() }],
    ['is placed here for another kind (R-051)', { here: placedAt(wakes('site-fr-1')), kind: 'embedding' }],
    ['may wait for no time here', { here: placedAt(wakes('site-fr-1')), defaultHoldMs: 0 }],
    ['has a client that does not wait', { here: placedAt(wakes('site-fr-1')), maxWaitMs: 0 }],
  ];
  for (const [what, change] of notHeld) {
    it(`does not hold a request whose model ${what}: 503 when agents are down, 404 when there are none`, () => {
      assert.deepEqual(
        PRESENCES.map((local) => decide({ ...change, local })),
        ['serve', 'noAgents', 'notFound'],
      );
    });
  }

  it('looks at hints until they expire, and asks for that moment anew each time (R-058)', () => {
    const placed = (site: string, load: string) => ({
      model: 'm',
      kind: 'chat',
      site,
      scale_from_zero: true,
      hint: { load },
    });
    const scope = parseScope('EU');
    const mapWith = (frLoad: string, deLoad: string) =>
      mapOf(edited(VALID_MAP, 'placements', [placed('site-fr-2', frLoad), placed('site-de-1', deLoad)]));
    const at = (frLoad: string, deLoad: string, nowMs: number) =>
      decide({ scope, here: { siteId: ROUTER.ownSite, map: mapWith(frLoad, deLoad) } }, nowMs);
    const first = at('ok', 'ok', NOW_MS);
    const second = first === 'site-fr-2' ? 'site-de-1' : 'site-fr-2';
    const firstFull = (nowMs: number) => (first === 'site-fr-2' ? at('full', 'ok', nowMs) : at('ok', 'full', nowMs));
    assert.equal(firstFull(HINTS_EXPIRE_AT_MS - 1), second);
    assert.equal(firstFull(HINTS_EXPIRE_AT_MS), first);
    assert.equal(firstFull(HINTS_EXPIRE_AT_MS + 1), first);
  });

  it('names a site that is neither this one nor the origin, placed for the kind and in scope, or none (P-08)', () => {
    const origins = [undefined, 'site-1', 'site-2'].map((text) => (text === undefined ? undefined : siteId(text)));
    return fc.assert(
      fc.property(
        validMaps,
        fc.constantFrom('all', 'EU', 'country:FR', 'country:DE'),
        fc.constantFrom(...origins),
        (document, scopeText, origin) => {
          const map = mapOf(document);
          const scope = parseScope(scopeText);
          const here = { siteId: ROUTER.ownSite, map };
          const hops = origin === undefined ? 0 : 1;
          // Whoever waits is held where the map says so; here nobody does.
          const decision = decideRoute(facts({ here, scope, passage: { hops, origin }, maxWaitMs: 0 }), NOW_MS);
          const candidates = map.allPlacements
            .filter((placement) => placement.model === 'm' && placement.kind === 'chat')
            .map((placement) => map.sites.get(placement.site))
            .filter((site) => site?.id !== ROUTER.ownSite && site?.id !== origin)
            .filter(
              (site) =>
                scopeText === 'all' ||
                (scopeText === 'EU' ? site?.eu : site?.country === scopeText.slice('country:'.length)),
            );
          if (candidates.length === 0) assert.equal(decision.kind, 'notFound');
          else assert.ok(decision.kind === 'redirect' && candidates.includes(decision.target));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('stay()', () => {
  it('is what is left without a redirect: served, held, 503 or 404 (R-029)', () => {
    const of = (change: Partial<RouteFacts>) => PRESENCES.map((local) => stay(facts({ ...change, local })).kind);
    assert.deepEqual(of({}), ['serve', 'noAgents', 'notFound']);
    assert.deepEqual(of({ here: placedAt(wakes('site-fr-1')) }), ['serve', 'hold', 'hold']);
  });

  it('is an answer from here, whatever the agents, where a provider is the last resort (R-033)', () => {
    for (const local of PRESENCES) assert.equal(stay(facts({ local, hasLastResort: true })).kind, 'serve');
  });

  it('is a hold before it is a provider (R-140)', () => {
    const here = placedAt(wakes('site-fr-1'));
    assert.equal(stay(facts({ here, hasLastResort: true })).kind, 'hold');
    assert.equal(stay(facts({ here, hasLastResort: true, maxWaitMs: 0 })).kind, 'serve');
  });
});
