// The router over HTTP against bare servers of the same runtime, by turns in one run: redirects, accepted tokens, served
// requests. The engine answers at once, so that the router is what is slow.

import { type Fleet, startFleet } from '../../src/bench/fleet.ts';
import { encodeBody, type Job } from '../../src/bench/job.ts';
import { type Figure, IS_QUICK, tell } from '../figure.ts';
import { assertRedirects, assertServes, BODY, PATH } from './right-answer.ts';
import { compareSides, describe, MEASURED_CORE, OTHER_CORE, router, type Side, Stage } from './stage.ts';

const ROUNDS = IS_QUICK ? 3 : 7;
const ROUND_MS = IS_QUICK ? 500 : 1_000;
const CONNECTIONS = 64;
/** It ends when no token is left. */
const WARM_UP_MAX_MS = 20_000;

const stage = new Stage();
const { load } = stage;

function jobFor(fleet: Fleet, port: number, status: number, more: Partial<Job> = {}): Job {
  const headers = [`Authorization: Bearer ${fleet.apiKey}`];
  return {
    port,
    path: PATH,
    body: encodeBody(BODY),
    headers,
    status,
    connections: CONNECTIONS,
    durationMs: ROUND_MS,
    ...more,
  };
}

async function redirects(fleet: Fleet): Promise<Figure> {
  const bare = await stage.bare(MEASURED_CORE, 'redirect');
  const { redirecting } = fleet;
  for (const { port } of [redirecting, bare]) await assertRedirects(port, fleet.apiKey);
  const found = await compareSides(
    load,
    { job: jobFor(fleet, redirecting.port, 307), pid: redirecting.child.pid },
    { job: jobFor(fleet, bare.port, 307), pid: bare.child.pid },
    ROUNDS,
  );
  const note = `${describe(found.one)}; bare ${describe(found.other)}`;
  return { name: 'redirect over a bare 307', value: found.rateRatio, unit: '×', target: 'redirectBare', note };
}

/** Each token works once: enough for all rounds are collected before the first. */
async function tokens(fleet: Fleet, enginePort: number): Promise<Figure> {
  const { redirecting, serving, apiKey } = fleet;
  const token = await assertRedirects(redirecting.port, apiKey);
  await assertServes(serving.port, apiKey, enginePort, token);
  const collect = jobFor(fleet, redirecting.port, 307, { tokens: 'keep', durationMs: 3 * ROUND_MS });
  const use = jobFor(fleet, serving.port, 200, { tokens: 'use', durationMs: ROUND_MS / 2 });
  await load.run(collect);
  // What checks tokens is compiled while it does, as all else in the warm-up of a side.
  await load.run({ ...use, durationMs: WARM_UP_MAX_MS });
  await load.run(collect);
  const withToken: Side = { job: use, pid: serving.child.pid };
  const withKey: Side = { job: jobFor(fleet, serving.port, 200, { durationMs: ROUND_MS / 2 }), pid: serving.child.pid };
  const found = await compareSides(load, withToken, withKey, ROUNDS);
  const note = `${describe(found.one)}; API key ${describe(found.other)}`;
  return { name: 'accepted token over API key', value: found.rateRatio, unit: '×', target: 'tokenKey', note };
}

async function served(fleet: Fleet, engineUrl: string, enginePort: number): Promise<readonly Figure[]> {
  const bare = await stage.bare(MEASURED_CORE, 'pass-through', engineUrl);
  const { serving } = fleet;
  for (const { port } of [serving, bare]) await assertServes(port, fleet.apiKey, enginePort);
  const routed = (connections: number): Side => ({
    job: jobFor(fleet, serving.port, 200, { connections }),
    pid: serving.child.pid,
  });
  const passed: Side = { job: jobFor(fleet, bare.port, 200), pid: bare.child.pid };
  const full = await compareSides(load, routed(CONNECTIONS), passed, ROUNDS);
  const direct: Side = { job: jobFor(fleet, enginePort, 200, { connections: 1 }), pid: bare.child.pid };
  const alone = await compareSides(load, routed(1), direct, ROUNDS);
  const passedAlone = { ...passed, job: { ...passed.job, connections: 1 } };
  const bareAlone = await compareSides(load, passedAlone, direct, Math.ceil(ROUNDS / 2));
  const note = `${describe(full.one)}; bare ${describe(full.other)}`;
  return [
    { name: 'served over a bare pass-through', value: full.rateRatio, unit: '×', target: 'servedBare', note },
    {
      name: 'served, added to a direct request at one connection, p50',
      value: alone.addedMs,
      unit: 'ms',
      target: 'servedDelay',
      note: `direct ${alone.other.p50Ms.toFixed(3)} ms; a bare pass-through adds ${bareAlone.addedMs.toFixed(3)} ms`,
    },
  ];
}

try {
  const engine = await stage.bare(OTHER_CORE, 'engine');
  const engineUrl = `http://127.0.0.1:${engine.port}`;
  const fleet = await startFleet(router(MEASURED_CORE), stage.join, engineUrl);
  const { port } = engine;
  tell('HTTP', [await redirects(fleet), await tokens(fleet, port), ...(await served(fleet, engineUrl, port))]);
} finally {
  await stage.end();
}
