// Maps of 20,000 placements over 200 sites, pushed to a router that redirects all the while: the longest that a request had
// to wait.

import { MODEL, startFleet } from '../../src/bench/fleet.ts';
import { encodeBody, type Job } from '../../src/bench/job.ts';
import { ADMIN_KEY } from '../../test/support/router-process.ts';
import { watchStall } from '../../test/support/stall.ts';
import { IS_QUICK, tell } from '../figure.ts';
import { assertRedirects, BODY, PATH } from './right-answer.ts';
import { MEASURED_CORE, router, Stage } from './stage.ts';

const PUSHES = IS_QUICK ? 3 : 8;
const SITES = 200;
const PLACEMENTS = 20_000;
const REQUESTS_PER_SECOND = 500;
const LOAD_MS = IS_QUICK ? 2_500 : 5_000;

function mapBytes(version: number): Uint8Array<ArrayBuffer> {
  const sites = ['bench-a', 'bench-b', ...Array.from({ length: SITES - 2 }, (_, index) => `site-${index}`)];
  const model = (index: number) => (index < SITES ? MODEL : `model-${version}-${Math.floor(index / SITES)}`);
  const document = {
    schema: 3,
    version,
    region: 'bench',
    sites: sites.map((id) => ({ id, url: `https://${id}.bench.localhost`, country: 'FR', eu: true })),
    placements: Array.from({ length: PLACEMENTS }, (_, index) => ({
      model: model(index),
      kind: 'chat',
      site: sites[index % SITES],
      scale_from_zero: false,
      hint: { warm: true, load: 'ok' },
    })),
    hints_expire_at: new Date(Date.now() + 600_000).toISOString(),
  };
  return new TextEncoder().encode(JSON.stringify(document));
}

const stage = new Stage();
try {
  const fleet = await startFleet(router(MEASURED_CORE), stage.join, undefined, ADMIN_KEY);
  const { port, child } = fleet.redirecting;
  const url = `http://127.0.0.1:${port}`;
  const job: Job = {
    port,
    path: PATH,
    body: encodeBody(BODY),
    headers: [`Authorization: Bearer ${fleet.apiKey}`],
    status: 307,
    connections: 64,
    durationMs: LOAD_MS,
    perSecond: REQUESTS_PER_SECOND,
  };
  await assertRedirects(port, fleet.apiKey);
  const calm = await stage.load.run(job);
  // Made before anything is timed: it takes the core of the load process.
  const maps = Array.from({ length: PUSHES }, (_, count) => mapBytes(2 + count));
  const push = async (body: Uint8Array<ArrayBuffer>): Promise<void> => {
    const init = { method: 'POST', headers: { authorization: `Bearer ${ADMIN_KEY}` }, body };
    const answer = await fetch(`${url}/admin/sibling-map`, init);
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const pushAll = async (): Promise<void> => {
    for (const body of maps) await push(body);
  };
  const [pushed, stall] = await Promise.all([stage.load.run(job), watchStall({ url, pid: child.pid }, pushAll())]);
  for (const { failed, failure } of [calm, pushed]) if (failed > 0) throw new Error(failure);
  tell('Map push', [
    {
      name: `longest delay of a request, ${PUSHES} pushes under ${REQUESTS_PER_SECOND} redirects/s`,
      value: pushed.latencies.maxMs,
      unit: 'ms',
      target: 'mapPush',
      note:
        `p99 ${pushed.latencies.p99Ms.toFixed(1)} ms, at most ${stall.longestCpuMs.toFixed(1)} ms of work before an answer; ` +
        `without pushes ${calm.latencies.maxMs.toFixed(0)} ms, p99 ${calm.latencies.p99Ms.toFixed(1)} ms`,
    },
  ]);
} finally {
  await stage.end();
}
