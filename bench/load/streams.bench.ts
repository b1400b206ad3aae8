// A thousand streams at the pace of a quick model, through the router and through a bare pass-through by turns: how far the
// gaps between chunks are from the engine's. Then streams that have fallen silent: what each holds of memory.

import { memoryMib } from '../../src/bench/child.ts';
import { type Fleet, startFleet } from '../../src/bench/fleet.ts';
import { percentile } from '../../src/bench/latency.ts';
import { type Figure, IS_QUICK, tell } from '../figure.ts';
import { median } from '../report.ts';
import { MEASURED_CORE, OTHER_CORE, router, Stage } from './stage.ts';
import { pause, type StreamSource, Streams } from './streams.ts';

const STREAMS = 1_000;
const ROUNDS = IS_QUICK ? 1 : 2;
const ROUND_MS = IS_QUICK ? 2_000 : 4_000;
const SPREAD_MS = 1_500;
/** Until the garbage of the beginnings is gone. */
const SETTLE_MS = 3_000;

const stage = new Stage();

function throughRouter({ serving, apiKey }: Fleet): StreamSource {
  return { port: serving.port, headers: [`Authorization: Bearer ${apiKey}`] };
}

interface Round {
  readonly p99Ms: number;
  readonly perSecond: number;
}

async function measureRound(source: StreamSource): Promise<Round> {
  const streams = new Streams();
  try {
    await streams.open(source, STREAMS, SPREAD_MS);
    await streams.measure(ROUND_MS);
    if (streams.broken > 0) throw new Error(`${streams.broken} streams broke`);
    const deviations = streams.deviationsMs.toSorted((one, other) => one - other);
    return { p99Ms: percentile(deviations, 0.99), perSecond: (streams.chunks * 1_000) / ROUND_MS };
  } finally {
    streams.close();
  }
}

async function pace(): Promise<Figure> {
  const engine = await stage.bare(OTHER_CORE, 'pacer');
  const engineUrl = `http://127.0.0.1:${engine.port}`;
  const bare = await stage.bare(MEASURED_CORE, 'pass-through', engineUrl);
  const routed = throughRouter(await startFleet(router(MEASURED_CORE), stage.join, engineUrl));
  const rounds: { readonly routed: Round; readonly passed: Round }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const through = await measureRound(routed);
    await pause(500);
    rounds.push({ routed: through, passed: await measureRound({ port: bare.port, headers: [] }) });
    await pause(500);
  }
  const of = (side: 'routed' | 'passed') =>
    `${median(rounds.map((round) => round[side].p99Ms)).toFixed(1)} ms at ` +
    `${Math.round(median(rounds.map((round) => round[side].perSecond))).toLocaleString('en')} chunks/s`;
  return {
    name: '1,000 streams of 50 chunks/s, p99 of gap deviation over bare',
    value: median(rounds.map((round) => round.routed.p99Ms / round.passed.p99Ms)),
    unit: '×',
    target: 'streamGap',
    note: `${of('routed')}; bare ${of('passed')}`,
  };
}

/** A second thousand beside the first, with which comes what is taken once, such as compiled code. */
async function silence(): Promise<Figure> {
  const engine = await stage.bare(OTHER_CORE, 'silent');
  const fleet = await startFleet(router(MEASURED_CORE), stage.join, `http://127.0.0.1:${engine.port}`);
  await pause(1_000);
  const mib = [memoryMib(fleet.serving.child.pid) ?? Number.NaN];
  const thousands = [new Streams(), new Streams()];
  try {
    for (const streams of thousands) {
      await streams.open(throughRouter(fleet), STREAMS, SPREAD_MS);
      await pause(SETTLE_MS);
      mib.push(memoryMib(fleet.serving.child.pid) ?? Number.NaN);
    }
    const [none = 0, first = 0, second = 0] = mib;
    const value = ((second - first) * 1_024) / STREAMS;
    const note = `${first.toFixed(0)} to ${second.toFixed(0)} MiB, a second 1,000; the first from ${none.toFixed(0)} MiB`;
    return { name: 'an idle stream of 1,000', value, unit: 'KiB', target: 'streamMemory', note };
  } finally {
    for (const streams of thousands) streams.close();
  }
}

try {
  tell('Streams', [await pace(), await silence()]);
} finally {
  await stage.end();
}
