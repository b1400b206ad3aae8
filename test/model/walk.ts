// Follows one client through one fleet along every chain of redirects that sessions and repeated URLs can bring about,
// and holds each redirect against what the product page promises.

import type { Scope } from '../../src/site/scope.ts';
import { present } from '../redirect/builders.ts';
import type { Exit, ModelRouter } from './router.ts';
import type { Entry, Token } from './token-desk.ts';
import { type Client, describeClient, describeState, SITES } from './world.ts';

export interface Fleet {
  /** By the number of their site. */
  readonly routers: readonly ModelRouter[];
  /** At n: the router that the URL of site n reaches, n itself when all is well. */
  readonly leadsTo: readonly number[];
}

/** A client, and the site where it starts. */
export interface Journey {
  readonly client: Client;
  readonly start: number;
}

export type Violation = 'third redirect' | 'back to the origin' | 'out of scope' | 'hop not counted';

export interface Verdict {
  /** The longest chain; at most `REDIRECTS_FOLLOWED`, which stands for an endless one. */
  readonly redirects: number;
  /** Whether every chain ends at an agent. */
  readonly isAlwaysServed: boolean;
  readonly violation: Violation | undefined;
}

/** A chain this long never ends: a fleet of four has not as many routers. */
export const REDIRECTS_FOLLOWED = 13;

interface Step {
  readonly router: ModelRouter;
  readonly entry: Entry;
  readonly exit: Exit;
}

const SITE_NUMBERS = new Map<string, number>(SITES.map(({ id }, index) => [id, index]));

/** Every chain of one journey. */
export class Walk {
  readonly #fleet: Fleet;
  readonly #journey: Journey;
  readonly #path: Step[] = [];
  #redirects = 0;
  #isAlwaysServed = true;
  #violation: Violation | undefined;
  #violatingPath: readonly Step[] = [];

  constructor(fleet: Fleet, journey: Journey) {
    this.#fleet = fleet;
    this.#journey = journey;
  }

  run(): Verdict {
    this.#arrive(this.#journey.start, undefined, 0);
    return {
      redirects: this.#redirects,
      isAlwaysServed: this.#isAlwaysServed,
      violation: this.#violation,
    };
  }

  /** The fleet, the client and the last chain that broke a promise, one line each. */
  trace(): string {
    const { routers, leadsTo } = this.#fleet;
    const detours = leadsTo.flatMap((at, site) =>
      at === site ? [] : `the URL of ${SITES[site]?.id} leads to ${SITES[at]?.id}`,
    );
    const steps = this.#violatingPath.slice(0, 5).map((step, index) => `${index + 1}. ${describeStep(step)}`);
    const more = this.#violatingPath.length > 5 ? [`… and so on, ${this.#violatingPath.length} times`] : [];
    return [
      `${this.#violation ?? 'not served'}:`,
      ...routers.map(({ state }) => describeState(state)),
      ...detours,
      describeClient(this.#journey.client),
      ...steps,
      ...more,
    ].join('\n  ');
  }

  #arrive(at: number, token: Token | undefined, redirects: number): void {
    const router = present(this.#fleet.routers[at]);
    const { client } = this.#journey;
    const entry = router.enter({ client, token, isRepeat: false });
    this.#leave(router, entry, redirects);
    if (!client.repeats || token === undefined || entry.refusal !== undefined) return;
    this.#leave(router, router.enter({ client, token, isRepeat: true }), redirects);
  }

  #leave(router: ModelRouter, entry: Entry, redirects: number): void {
    for (const exit of router.exits(entry)) {
      if (this.#redirects >= REDIRECTS_FOLLOWED) return;
      this.#path.push({ router, entry, exit });
      if (exit.kind === 'redirect') this.#follow(exit.token, redirects + 1);
      else if (exit.kind !== 'serve') this.#isAlwaysServed = false;
      this.#path.pop();
    }
  }

  #follow(token: Token, redirects: number): void {
    this.#redirects = Math.max(this.#redirects, redirects);
    const violation = violationOf(token, redirects, this.#journey);
    if (violation !== undefined) [this.#violation, this.#violatingPath] = [violation, [...this.#path]];
    const target = present(SITE_NUMBERS.get(token.claims.target));
    if (redirects < REDIRECTS_FOLLOWED) this.#arrive(present(this.#fleet.leadsTo[target]), token, redirects);
  }
}

/** What a redirect, the nth of its chain, breaks. */
export function violationOf({ claims }: Token, redirects: number, { client, start }: Journey): Violation | undefined {
  if (redirects > 2) return 'third redirect';
  if (claims.target === SITES[start]?.id) return 'back to the origin';
  if (claims.hop !== redirects) return 'hop not counted';
  const target = present(SITES.find(({ id }) => id === claims.target));
  const isAsked = client.scope === undefined || client.scope === nameOf(claims.scope);
  return isAsked && isInside(target, nameOf(claims.scope)) ? undefined : 'out of scope';
}

function nameOf(scope: Scope): string {
  return { all: 'all', eu: 'EU', country: `country:${scope.kind === 'country' ? scope.country : ''}` }[scope.kind];
}

function isInside(site: (typeof SITES)[number], scope: string): boolean {
  return scope === 'all' || (scope === 'EU' ? site.eu : scope === `country:${site.country}`);
}

function describeStep({ router, entry, exit }: Step): string {
  const passage = entry.admitted?.passage;
  const after = `with ${passage?.hops} redirects behind it`;
  const entered =
    entry.refusal === undefined ? `enters ${after}` : `token refused as ${entry.refusal}, enters ${after}`;
  const how = passage === undefined ? `token refused as ${entry.refusal}` : entered;
  const left =
    exit.kind === 'redirect' ? `307 to ${exit.token.claims.target}, hop ${exit.token.claims.hop}` : exit.kind;
  return `${SITES[router.state.site]?.id}: ${how} → ${left}`;
}
