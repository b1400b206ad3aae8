// Two thousand requests that are redirected, each with a body large enough to show a leak: what both sites' memory looks
// like afterwards.

import { type Fleet, MODELS, Started, startFleet } from '../demo/fleet.ts';
import { memoryMb } from '../support/memory.ts';
import type { SiteProcess } from '../support/sites.ts';

const WARM_UP = 1000;
const REDIRECTS = 2000;
const CLIENTS = 8;
/** All together they send 200 MB. */
const BODY_BYTES = 100_000;
/** The ledger, and what a garbage collector may leave lying. */
const GROWTH_MAX_MB = 30;

export async function manyRedirects(): Promise<string> {
  const started = new Started();
  try {
    const fleet = await startFleet(started);
    const sites = [fleet.first, fleet.second];
    await redirect(fleet, WARM_UP);
    const before = await Promise.all(sites.map(memoryMb));
    await redirect(fleet, REDIRECTS);
    const after = await Promise.all(sites.map(memoryMb));
    const counted = await redirectsCounted(fleet.first);
    if (counted !== WARM_UP + REDIRECTS) throw new Error(`${fleet.first.id} counted ${counted} redirects`);
    const growth = after.map((mb, index) => mb - (before[index] ?? 0));
    const told = sites.map(({ id }, index) => `${id} ${before[index]?.toFixed(0)} → ${after[index]?.toFixed(0)} MB`);
    if (growth.some((mb) => mb > GROWTH_MAX_MB)) throw new Error(told.join(', '));
    return told.join(', ');
  } finally {
    await started.stop();
  }
}

async function redirect(fleet: Fleet, count: number): Promise<void> {
  const messages = [{ role: 'user', content: 'a'.repeat(BODY_BYTES) }];
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.keys[0].secret}` },
    body: JSON.stringify({ model: MODELS.chat.id, messages, max_tokens: 16 }),
    tls: { ca: fleet.ground.ca },
  };
  const client = async (): Promise<void> => {
    for (let left = count / CLIENTS; left > 0; left -= 1) {
      const answer = await fetch(`${fleet.first.url}/v1/chat/completions`, init);
      await answer.arrayBuffer();
      if (answer.status !== 200 || !answer.redirected) throw new Error(`status ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

async function redirectsCounted(site: SiteProcess): Promise<number> {
  const text = await (await fetch(`${site.metricsUrl}/metrics`)).text();
  return Number(/^hivenet_redirects_total\{.*\} (\d+)$/m.exec(text)?.[1]);
}
