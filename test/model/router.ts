// A modelled router in one state: its token desk, its map and its agents. For every request it has each answer that the
// real decision gives for some session, so that a search meets every choice of a site.

import { decideRoute, type StayDecision, stay } from '../../src/routing/decide-route.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { present } from '../redirect/builders.ts';
import { type Admitted, type Entry, MODEL, type Request, type Token, type TokenDesk } from './token-desk.ts';
import { type RouterState, SESSIONS, SITES } from './world.ts';

/** How one request leaves a router: after a hold, too, when the decision is taken again. */
export type Exit =
  | { readonly kind: 'unauthorized' | StayDecision['kind'] }
  | { readonly kind: 'redirect'; readonly token: Token };

const UNAUTHORIZED: readonly Exit[] = [{ kind: 'unauthorized' }];

export class ModelRouter {
  readonly state: RouterState;
  readonly #desk: TokenDesk;
  readonly #map: SiblingMap;
  readonly #exits = new Map<number, readonly Exit[]>();

  constructor(state: RouterState, map: SiblingMap, desk: TokenDesk) {
    this.state = state;
    this.#map = map;
    this.#desk = desk;
  }

  enter(request: Request): Entry {
    return this.#desk.enter(request);
  }

  /** The ways out after `enter`, one or more: the session of the request decides between them. */
  exits({ admitted }: Entry): readonly Exit[] {
    if (admitted === undefined) return UNAUTHORIZED;
    const known = this.#exits.get(admitted.id);
    if (known !== undefined) return known;
    const exits = this.#exitsAnew(admitted);
    this.#exits.set(admitted.id, exits);
    return exits;
  }

  #exitsAnew(admitted: Admitted): readonly Exit[] {
    const exits = new Map<string, Exit>();
    for (const session of SESSIONS) {
      const exit = this.#exitWith(admitted, session);
      exits.set(exit.kind === 'redirect' ? exit.token.claims.target : exit.kind, exit);
    }
    return [...exits.values()];
  }

  #exitWith(admitted: Admitted, session: Uint8Array): Exit {
    const siteId = present(SITES[this.state.site]).id;
    const facts = {
      local: this.state.local,
      hasLastResort: false,
      model: MODEL,
      kind: 'chat',
      keyId: admitted.keyId,
      session,
      passage: admitted.passage,
      scope: admitted.scope,
      here: { siteId, map: this.#map },
      defaultHoldMs: 0,
      maxWaitMs: undefined,
    } as const;
    const decision = decideRoute(facts, 0);
    if (decision.kind !== 'redirect') return decision;
    const token = this.#desk.mint(admitted, decision.scope, decision.target.id);
    return token === undefined ? stay(facts) : { kind: 'redirect', token };
  }
}
