// What the figures mean for whoever plans with them: how much of them to count on, and which part gives out first.

import type { LoadFinding, Recommendation } from './findings.ts';

/** The other half is for bursts, for the hour after a neighbour has failed, and for what an engine does to a router. */
const HEADROOM = 0.5;

/** From this share of a core on, the router, which works on one thread, is what is full. */
const FULL_SHARE = 0.85;

export function recommend(loads: readonly LoadFinding[], bodyBytes: number): Recommendation {
  const [served, redirect] = (['served', 'redirect'] as const).map((name) => loads.find((load) => load.name === name));
  const servedPerSecond = half(served);
  const redirectsPerSecond = half(redirect);
  const limit = limitOf(served);
  const counts =
    `Count on ${servedPerSecond} served requests or ${redirectsPerSecond} redirects a second for each router here, ` +
    `with bodies of ${bodyBytes} bytes and 50 % headroom. `;
  return { servedPerSecond, redirectsPerSecond, limit, text: counts + reasonFor(limit, served) };
}

function half(load: LoadFinding | undefined): number {
  return Math.floor((load?.maxPerSecond ?? 0) * HEADROOM);
}

function limitOf(served: LoadFinding | undefined): Recommendation['limit'] {
  const share = served?.routerCoreShare;
  if (share === null || share === undefined) return 'unknown';
  return share >= FULL_SHARE ? 'router' : 'machine';
}

function reasonFor(limit: Recommendation['limit'], served: LoadFinding | undefined): string {
  switch (limit) {
    case 'router':
      return 'The router is the limit: its one thread filled a core. A second router on another core adds as much again.';
    case 'machine': {
      const percent = Math.round(100 * (served?.routerCoreShare ?? 0));
      const alone = Math.floor((1e6 / (served?.routerCpuUs ?? Number.POSITIVE_INFINITY)) * HEADROOM);
      return (
        `The machine is the limit: the load and the mock engine ran on it too, and the router had ${percent} % of a core. ` +
        `With a core to itself it carries about ${alone} served requests a second at the same headroom.`
      );
    }
    case 'unknown':
      return 'This system does not tell processor time, so it stays open whether the router or the machine was the limit.';
  }
}
