// The router against nginx, one core each, by turns in one run: a redirect against `return 307`, a served request and a
// streamed chunk against `proxy_pass`. Where there is no nginx or no wrk, the rows say so.

import { cpuMs } from '../../src/bench/child.ts';
import { type Fleet, startFleet } from '../../src/bench/fleet.ts';
import { type Figure, IS_QUICK, tell } from '../figure.ts';
import { median } from '../report.ts';
import { runWrk, startNginx, type WrkFound, whyNoNginx } from './nginx.ts';
import { assertRedirects, assertServes, BODY } from './right-answer.ts';
import { MEASURED_CORE, OTHER_CORE, router, type Server, Stage } from './stage.ts';
import { type StreamSource, Streams } from './streams.ts';

const ROUNDS = IS_QUICK ? 2 : 5;
const DURATION_S = IS_QUICK ? 1 : 2;
/** For so long a router under load is still compiled. */
const WARM_UP_S = 3;
const STREAMS = 100;
const STREAM_MS = IS_QUICK ? 1_500 : 3_000;
const LOCATION = `https://site-fr-2.example.com/v1/chat/completions?rt=${'a'.repeat(250)}`;

interface Side {
  readonly name: string;
  readonly server: Server;
  /** Of each round. */
  readonly found: WrkFound[];
}

const sideOf = (name: string, server: Server): Side => ({ name, server, found: [] });

/** All by turns, once each of them is warm. */
async function measureByTurns(sides: readonly Side[], apiKey: string): Promise<void> {
  const job = { body: BODY, headers: { Authorization: `Bearer ${apiKey}` }, durationS: DURATION_S };
  for (const { server } of sides) await runWrk({ ...job, server, durationS: WARM_UP_S });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, found } of sides) found.push(await runWrk({ ...job, server }));
  }
}

/** Median of the ratios of the rounds. */
function ratioOf(one: Side, other: Side, what: keyof WrkFound): number {
  return median(one.found.map((found, round) => found[what] / (other.found[round]?.[what] ?? Number.NaN)));
}

/** What each was in the middle. */
function describe(sides: readonly Side[]): string {
  const middle = ({ found }: Side, what: keyof WrkFound) => median(found.map((round) => round[what]));
  const told = sides.map((side) => {
    const rate = Math.round(middle(side, 'perSecond')).toLocaleString('en');
    return `${side.name} ${rate}/s, ${middle(side, 'cpuUs').toFixed(1)} µs CPU`;
  });
  return told.join('; ');
}

async function redirects(stage: Stage, { redirecting, apiKey }: Fleet): Promise<Figure> {
  const ours = sideOf('router', redirecting);
  const theirs = sideOf('nginx', await startNginx(stage, { return: LOCATION }));
  for (const { server } of [ours, theirs]) await assertRedirects(server.port, apiKey);
  await measureByTurns([ours, theirs], apiKey);
  const name = 'redirect over nginx return 307';
  const value = ratioOf(ours, theirs, 'perSecond');
  return { name, value, unit: '×', target: 'redirectNginx', note: describe([ours, theirs]) };
}

/** Beside nginx also a bare pass-through, and the engine with nothing before it, which shares a core with wrk. */
async function served(stage: Stage, { serving, apiKey }: Fleet, engine: Server): Promise<Figure> {
  const ours = sideOf('router', serving);
  const theirs = sideOf('nginx', await startNginx(stage, { proxyTo: engine.port }));
  const bare = await stage.bare(MEASURED_CORE, 'pass-through', `http://127.0.0.1:${engine.port}`);
  const sides = [ours, theirs, sideOf('bare', bare), sideOf('engine', engine)];
  for (const { server } of sides) await assertServes(server.port, apiKey, engine.port);
  await measureByTurns(sides, apiKey);
  const name = 'served request, CPU over nginx proxy_pass';
  const value = ratioOf(ours, theirs, 'cpuUs');
  return { name, value, unit: '×', target: 'servedNginx', note: describe(sides) };
}

async function chunks(stage: Stage): Promise<Figure> {
  const engine = await stage.bare(OTHER_CORE, 'pacer');
  const fleet = await startFleet(router(MEASURED_CORE), stage.join, `http://127.0.0.1:${engine.port}`);
  const nginx = await startNginx(stage, { proxyTo: engine.port });
  const headers = [`Authorization: Bearer ${fleet.apiKey}`];
  const rounds: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round < Math.min(ROUNDS, 3); round += 1) {
    rounds.push({
      ours: await chunkUs({ port: fleet.serving.port, headers }, fleet.serving.child.pid),
      theirs: await chunkUs({ port: nginx.port, headers }, nginx.child.pid),
    });
  }
  const [ours, theirs] = [median(rounds.map((one) => one.ours)), median(rounds.map((one) => one.theirs))];
  return {
    name: 'streamed chunk, CPU over nginx proxy_pass',
    value: median(rounds.map((one) => one.ours / one.theirs)),
    unit: '×',
    target: 'chunkNginx',
    note: `${ours.toFixed(1)} µs; nginx ${theirs.toFixed(1)} µs; ${STREAMS} streams of 50 chunks/s`,
  };
}

async function chunkUs(source: StreamSource, pid: number): Promise<number> {
  const streams = new Streams();
  try {
    await streams.open(source, STREAMS, 300);
    const before = cpuMs(pid) ?? Number.NaN;
    await streams.measure(STREAM_MS);
    return (((cpuMs(pid) ?? Number.NaN) - before) * 1_000) / streams.chunks;
  } finally {
    streams.close();
  }
}

function notMeasured(why: string): readonly Figure[] {
  const rows = ['redirectNginx', 'servedNginx', 'chunkNginx'] as const;
  return rows.map((target) => ({ name: target, value: undefined, unit: '×', target, note: why }));
}

async function measure(): Promise<readonly Figure[]> {
  const stage = new Stage();
  try {
    const engine = await stage.bare(OTHER_CORE, 'engine');
    const fleet = await startFleet(router(MEASURED_CORE), stage.join, `http://127.0.0.1:${engine.port}`);
    return [await redirects(stage, fleet), await served(stage, fleet, engine), await chunks(stage)];
  } finally {
    await stage.end();
  }
}

const why = whyNoNginx();
tell('nginx', why === undefined ? await measure() : notMeasured(why));
