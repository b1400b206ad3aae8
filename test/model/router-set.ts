// The routers of one search, one for each state: they share desks and maps, and with them what those remember.

import { complete } from '../../src/lib/steps.ts';
import { fallbackPassage } from '../../src/redirect/next-hop.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { EMPTY_MAP, type SiblingMap } from '../../src/site/sibling-map.ts';
import { okValue, present } from '../redirect/builders.ts';
import { allowedDomain } from '../site/map-document.ts';
import { ModelRouter } from './router.ts';
import { Numbering, type PassageRule, type Shared, TokenDesk } from './token-desk.ts';
import { type RouterState, SITES } from './world.ts';

const DOMAINS = [allowedDomain('.example.com')];

export class RouterSet {
  readonly #shared: Shared;
  readonly #routers = new Map<string, ModelRouter>();
  readonly #desks = new Map<string, TokenDesk>();
  readonly #maps = new Map<string, SiblingMap>();

  constructor(rule: PassageRule = fallbackPassage) {
    this.#shared = { rule, tokens: new Numbering(), admitted: new Numbering() };
  }

  in(state: RouterState): ModelRouter {
    return remembered(this.#routers, Object.values(state), () => {
      const map = this.#mapOf(state);
      return new ModelRouter(state, map, this.#deskOf(state, map));
    });
  }

  #deskOf(state: RouterState, map: SiblingMap): TokenDesk {
    const { site, view, secrets, auth, clockMs } = state;
    const ownSite = map.sites.get(present(SITES[site]).id);
    const key = [site, view === undefined, secrets, auth, clockMs];
    return remembered(this.#desks, key, () => new TokenDesk(this.#shared, state, ownSite));
  }

  #mapOf({ site, view }: RouterState): SiblingMap {
    if (view === undefined) return EMPTY_MAP;
    return remembered(this.#maps, [site, view], () => parseView(site, view));
  }
}

/** The map that places the model at the sites of `view`, as the router of `site` reads it. */
function parseView(site: number, view: number): SiblingMap {
  const document = {
    schema: 3,
    version: 1,
    region: 'eu',
    sites: SITES.map(({ id, country, eu }) => ({ id, url: `https://${id}.example.com`, country, eu })),
    placements: SITES.filter((_, index) => ((view >> index) & 1) === 1).map(({ id }) => ({
      model: 'm',
      kind: 'chat',
      site: id,
      scale_from_zero: false,
    })),
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return okValue(complete(parseSiblingMap(bytes, { ownSite: present(SITES[site]).id, domains: DOMAINS })));
}

function remembered<Value>(values: Map<string, Value>, key: readonly unknown[], make: () => Value): Value {
  const text = key.join(' ');
  const known = values.get(text);
  if (known !== undefined) return known;
  const made = make();
  values.set(text, made);
  return made;
}
