// Two thousand requests of 64 KiB that are held for a minute: what they cost in memory and in time of the processor, and
// what other traffic notices of them, beside a second router that holds nobody and has the same traffic at the same time.

import { existsSync, readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import { memoryMb } from '../support/memory.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { startEngine, untilServing } from '../support/router-process.ts';
import { freePort, type SleepingSite, startSleepingSite } from '../support/sleeping-site.ts';

const MODELS = Array.from({ length: 20 }, (_, index) => `asleep-${index}`);
/** As many as may wait for one model. */
const HELD_EACH = 100;
const BODY_BYTES = 65_536;
const BODIES_MB = (MODELS.length * HELD_EACH * BODY_BYTES) / 1_048_576;
/** Beside its body, of one held request: its connection, its objects, and what the garbage collector has not freed yet. */
const BESIDE_KB = 64;
const HOLD_MS = 60_000;
const IDLE_MS = 10_000;
const P99_FACTOR = 1.1;
/** Of a core, without other traffic: probes of the engine that is awaited, and one timer for all who wait. */
const HOLDING_SHARE = 0.03;

export async function manyHeld(): Promise<string> {
  const awake = await startEngine({ name: 'awake', models: ['awake'] });
  const engines = [awake.setting, `vllm=http://127.0.0.1:${await freePort()}#${MODELS.join(',')}`];
  const [holding, idle] = await Promise.all([startSleepingSite(engines), startSleepingSite(engines)]);
  try {
    for (const site of [holding, idle]) {
      await site.place(MODELS);
      await untilServing(site, ['awake']);
    }
    // Both are warm before anything is measured.
    await latencies([holding, idle], 5_000);
    const beforeMb = await memoryMb(holding);
    const connections = await hold(holding);
    const startedMs = performance.now();
    const [busy, quiet] = await Promise.all([cpuShare(holding), cpuShare(idle)]);
    const [held = [], none = []] = await latencies([holding, idle], HOLD_MS - IDLE_MS);
    const heldMs = performance.now() - startedMs;
    const stillHeld = await heldCount(holding);
    const grownMb = (await memoryMb(holding)) - beforeMb;
    for (const connection of connections) connection.leave();
    await eventually('nobody is held', async () => (await heldCount(holding)) === 0 || undefined);
    const told =
      `${stillHeld} held for ${(heldMs / 1000).toFixed(0)} s: ${grownMb.toFixed(0)} MB for ${BODIES_MB} MB of bodies, ` +
      `${percent(busy)} of a core instead of ${percent(quiet)}; p99 of others ${told99(held)} instead of ${told99(none)} ms ` +
      `(p50 ${quantile(held, 0.5).toFixed(2)} and ${quantile(none, 0.5).toFixed(2)}, ${held.length} requests each)`;
    const allowedMb = BODIES_MB + (stillHeld * BESIDE_KB) / 1024;
    const isQuiet = quantile(held, 0.99) <= quantile(none, 0.99) * P99_FACTOR && !(busy - quiet > HOLDING_SHARE);
    if (stillHeld !== MODELS.length * HELD_EACH || grownMb > allowedMb || !isQuiet) throw new Error(told);
    return told;
  } finally {
    await Promise.all([holding.kill(), idle.kill(), awake.kill()]);
  }
}

async function hold(site: SleepingSite): Promise<readonly RawConnection[]> {
  const connections = await Promise.all(
    MODELS.flatMap((model) =>
      Array.from({ length: HELD_EACH }, async () => {
        const connection = await RawConnection.open(site.url);
        connection.send(requestFor(model));
        return connection;
      }),
    ),
  );
  await eventually('all are held', async () => (await heldCount(site)) === connections.length || undefined, 30_000);
  return connections;
}

function requestFor(model: string): string {
  const shell = JSON.stringify({ model, messages: [{ role: 'user', content: '' }] });
  const body = shell.replace('""', `"${'a'.repeat(BODY_BYTES - shell.length)}"`);
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function heldCount(site: SleepingSite): Promise<number> {
  const text = await (await fetch(`${site.metricsUrl}/metrics`)).text();
  const counts = text.matchAll(/^hivenet_hold_requests\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Milliseconds of whole answers, asked of the sites by turns: what the machine does to one it does to the other. */
async function latencies(sites: readonly SleepingSite[], forMs: number): Promise<readonly number[][]> {
  const samples = sites.map((): number[] => []);
  const body = JSON.stringify({ model: 'awake', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 });
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    for (const [index, site] of sites.entries()) {
      const startedMs = performance.now();
      const answer = await fetch(`${site.url}/v1/chat/completions`, { method: 'POST', body });
      await answer.text();
      if (answer.status !== 200) throw new Error(`Another model was answered ${answer.status}`);
      samples[index]?.push(performance.now() - startedMs);
    }
  }
  return samples;
}

/** Share of a core within the next moments; not a number where the system has no `/proc`. */
async function cpuShare({ pid }: SleepingSite): Promise<number> {
  const stat = `/proc/${pid}/stat`;
  // User and system time, in hundredths of a second on every Linux.
  const ticks = (): number => {
    const fields = existsSync(stat) ? readFileSync(stat, 'utf8').split(') ')[1]?.split(' ') : undefined;
    return Number(fields?.[11]) + Number(fields?.[12]);
  };
  const before = ticks();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return (ticks() - before) / (IDLE_MS / 10);
}

function quantile(samples: readonly number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(share * (samples.length - 1))] ?? Number.NaN;
}

function told99(samples: readonly number[]): string {
  return quantile(samples, 0.99).toFixed(2);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
