// What the figures mean for whoever plans with them: how much of them to count on, and which part gives out first.

import type { LoadFinding, Machine, Recommendation } from './findings.ts';

/** The other half is for bursts, for the hour after a neighbour has failed, and for what an engine does to a router. */
const HEADROOM = 0.5;

/** From this share of a core on, the router, which works on one thread, is what is full. */
const FULL_SHARE = 0.85;

/** With fewer cores load and mock engine take from the router's. */
const CORES_FOR_ALL = 4;

/** From this load on for each core, before the benchmark began, something else is taking part. */
const BUSY_LOAD = 0.5;

export function recommend(
  loads: readonly LoadFinding[],
  bodyBytes: number,
  machine: Pick<Machine, 'cores' | 'loadBefore'>,
): Recommendation {
  const [served, redirect] = (['served', 'redirect'] as const).map((name) => loads.find((load) => load.name === name));
  const servedPerSecond = half(served);
  const redirectsPerSecond = half(redirect);
  const limit = limitOf(served);
  const counts =
    `Count on ${servedPerSecond} served requests or ${redirectsPerSecond} redirects a second for each router here, ` +
    `with bodies of ${bodyBytes} bytes and 50 % headroom. `;
  const text = loads.some(({ failed }) => failed > 0)
    ? 'Count on none of these figures: some answers were not what they should be.'
    : counts + reasonFor(limit, served, machine) + warningOf(machine);
  return { servedPerSecond, redirectsPerSecond, limit, text };
}

function warningOf({ cores, loadBefore }: Pick<Machine, 'cores' | 'loadBefore'>): string {
  return loadBefore < BUSY_LOAD * cores
    ? ''
    : ` Something else was running: the load was ${loadBefore} before this began, and the figures are lower for it.`;
}

function half(load: LoadFinding | undefined): number {
  return Math.floor((load?.maxPerSecond ?? 0) * HEADROOM);
}

function limitOf(served: LoadFinding | undefined): Recommendation['limit'] {
  const share = served?.routerCoreShare;
  if (share === null || share === undefined) return 'unknown';
  return share >= FULL_SHARE ? 'router' : 'machine';
}

function reasonFor(
  limit: Recommendation['limit'],
  served: LoadFinding | undefined,
  { cores }: Pick<Machine, 'cores'>,
): string {
  switch (limit) {
    case 'router':
      return cores < CORES_FOR_ALL
        ? 'The router is the limit of served requests: it filled a core. A second router needs a core of its own, and here load ' +
            'and mock engine have the other.'
        : 'The router is the limit of served requests: it filled a core. A second one on another core adds as much again.';
    case 'machine': {
      const percent = Math.round(100 * (served?.routerCoreShare ?? 0));
      const alone = Math.floor((1e6 / (served?.routerCpuUs ?? Number.POSITIVE_INFINITY)) * HEADROOM);
      return (
        `The machine is the limit of served requests: load and mock engine, or others, ran on it too, and the router had ` +
        `${percent} % of a core. ` +
        `With a core to itself it carries about ${alone} served requests a second at the same headroom.`
      );
    }
    case 'unknown':
      return 'This system does not tell processor time, so it stays open whether the router or the machine was the limit.';
  }
}
