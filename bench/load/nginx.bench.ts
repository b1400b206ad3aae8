// The router against nginx, one core each, by turns in one run: a redirect against `return 307`, a served request and a
// streamed chunk against `proxy_pass`. Where there is no nginx or no wrk, the rows say so.

import { cpuMs } from '../../src/bench/child.ts';
import { type Fleet, MODEL, startFleet } from '../../src/bench/fleet.ts';
import { chatBody, KIB } from '../bodies.ts';
import { type Figure, IS_QUICK, tell } from '../figure.ts';
import { median } from '../report.ts';
import { runWrk, startNginx, whyNoNginx } from './nginx.ts';
import { MEASURED_CORE, OTHER_CORE, router, type Server, Stage } from './stage.ts';
import { type StreamSource, Streams } from './streams.ts';

const ROUNDS = IS_QUICK ? 2 : 5;
const DURATION_S = IS_QUICK ? 1 : 2;
const STREAMS = 100;
const STREAM_MS = IS_QUICK ? 1_500 : 3_000;
const LOCATION = `https://site-fr-2.example.com/v1/chat/completions?rt=${'a'.repeat(250)}`;

async function compare(one: Server, other: Server, apiKey: string) {
  const job = { body: chatBody(KIB, MODEL), headers: { Authorization: `Bearer ${apiKey}` }, durationS: DURATION_S };
  await runWrk({ ...job, server: one });
  await runWrk({ ...job, server: other });
  const rounds: { readonly rate: number; readonly cpu: number; readonly note: string }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [ours, theirs] = [await runWrk({ ...job, server: one }), await runWrk({ ...job, server: other })];
    const note = [ours, theirs].map(({ perSecond, cpuUs }) => `${Math.round(perSecond)}/s ${cpuUs.toFixed(1)} µs CPU`);
    rounds.push({
      rate: ours.perSecond / theirs.perSecond,
      cpu: ours.cpuUs / theirs.cpuUs,
      note: note.join('; nginx '),
    });
  }
  return {
    rate: median(rounds.map(({ rate }) => rate)),
    cpu: median(rounds.map(({ cpu }) => cpu)),
    note: rounds.at(-1)?.note ?? '',
  };
}

async function redirects(stage: Stage, { redirecting, apiKey }: Fleet): Promise<Figure> {
  const found = await compare(redirecting, await startNginx(stage, { return: LOCATION }), apiKey);
  const name = 'redirect over nginx return 307';
  return { name, value: found.rate, unit: '×', target: 'redirectNginx', note: found.note };
}

async function served(stage: Stage, { serving, apiKey }: Fleet, engine: Server): Promise<Figure> {
  const found = await compare(serving, await startNginx(stage, { proxyTo: engine.port }), apiKey);
  const name = 'served request, CPU over nginx proxy_pass';
  return { name, value: found.cpu, unit: '×', target: 'servedNginx', note: found.note };
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
