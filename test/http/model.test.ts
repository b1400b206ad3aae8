// The routers of test/model are put together from the core rooms; here the application itself goes the same ways.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { plainClients } from '../model/clients.ts';
import type { Exit, ModelRouter } from '../model/router.ts';
import { RouterSet } from '../model/router-set.ts';
import type { Token } from '../model/token-desk.ts';
import { type Client, KEY_IDS, SECRETS, SITES } from '../model/world.ts';
import { Fleet, SITE_IDS, type SiteWorld } from './fleet.ts';

const ROUTERS = new RouterSet();
const STATUS = { unauthorized: 401, serve: 200, noAgents: 503, notFound: 404, hold: 503 } as const;

interface World {
  readonly view: number;
  readonly hasAgent: boolean;
  readonly secrets: 'old' | 'moved' | 'mistyped';
  readonly leadsTo: number;
}

const anyWorld: fc.Arbitrary<World> = fc.record({
  view: fc.nat({ max: 7 }),
  hasAgent: fc.nat({ max: 3 }).map((number) => number === 0),
  secrets: fc.constantFrom('old', 'old', 'moved', 'mistyped'),
  leadsTo: fc.nat({ max: 2 }),
});

/** Every chain that the model knows: the sites that its 307s name, and the status at its end. */
function chainsFrom(
  routers: readonly ModelRouter[],
  worlds: readonly World[],
  client: Client,
): (at: number) => string[] {
  const goOn = (exit: Exit): string[] => {
    if (exit.kind !== 'redirect') return [String(STATUS[exit.kind])];
    const site = SITES.findIndex(({ id }) => id === exit.token.claims.target);
    return arrive(worlds[site]?.leadsTo ?? site, exit.token).map((rest) => `${SITES[site]?.id} ${rest}`);
  };
  const arrive = (at: number, token: Token | undefined): string[] => {
    const router = routers[at];
    return router === undefined ? [] : router.exits(router.enter({ client, token, isRepeat: false })).flatMap(goOn);
  };
  return (start) => arrive(start, undefined);
}

function modelOf(worlds: readonly World[]): readonly ModelRouter[] {
  return worlds.map(({ view, hasAgent, secrets }, site) =>
    ROUTERS.in({ site, view, local: hasAgent ? 'healthy' : 'none', secrets, auth: 'keys', clockMs: 0 }),
  );
}

function fleetOf(worlds: readonly World[]): Fleet {
  const named = worlds.map(({ view, hasAgent, secrets, leadsTo }, site): readonly [string, SiteWorld] => [
    SITE_IDS[site] ?? '',
    {
      view: SITE_IDS.filter((_, index) => (view >> index) & 1),
      hasAgent,
      secrets: SECRETS[secrets].join(','),
      misroutedTo: SITE_IDS[leadsTo] ?? '',
    },
  ]);
  return new Fleet(Object.fromEntries(named));
}

describe('the application', () => {
  it('takes a way that the modelled routers take, in any world (R-138, R-139)', { timeout: 60_000 }, async () => {
    const worlds = fc.tuple(anyWorld, anyWorld, anyWorld);
    await fc.assert(
      fc.asyncProperty(worlds, fc.nat({ max: 2 }), fc.boolean(), async (of, start, keepsKey) => {
        const shown = keepsKey ? 'Authorization' : 'nothing';
        const [client] = plainClients(
          ({ keyId, shows, repeats }) => keyId === KEY_IDS[0] && shows === shown && !repeats,
        );
        assert.ok(client !== undefined);
        const { named, status } = await fleetOf(of).ask(SITE_IDS[start] ?? '', { keepsKey });
        const chains = chainsFrom(modelOf(of), of, client)(start);
        assert.ok(
          chains.includes([...named, status].join(' ')),
          `${[...named, status].join(' ')} of ${chains.join(', ')}`,
        );
      }),
      { numRuns: 100 },
    );
  });
});
