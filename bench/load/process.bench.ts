// The router as a process: how soon it answers, what it holds with nothing to do, and how large its file is.

import { realpathSync, statSync } from 'node:fs';
import process from 'node:process';
import { Child, memoryMib } from '../../src/bench/child.ts';
import { BINARY } from '../../test/support/child-process.ts';
import { type Figure, IS_QUICK, tell } from '../figure.ts';
import { median } from '../report.ts';
import { pause } from './streams.ts';

const STARTS = IS_QUICK ? 5 : 15;
const IDLE_MS = 2_000;
const MIB = 1_048_576;
const FLAGS = ['serve', '--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];
const ENVIRONMENT = { HIVENET_ROUTER_ADMIN_API_KEYS: 'admin-key-of-the-benchmark' };

async function startOnce(): Promise<{ readonly router: Child; readonly ms: number }> {
  const startedMs = performance.now();
  const router = new Child([BINARY, ...FLAGS], ENVIRONMENT);
  const url = await router.after('listening http ');
  const answer = await fetch(`${url}/health`);
  const ms = performance.now() - startedMs;
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return { router, ms };
}

async function starting(): Promise<Figure> {
  const times: number[] = [];
  for (let count = 0; count < STARTS; count += 1) {
    const { router, ms } = await startOnce();
    times.push(ms);
    await router.kill();
  }
  const note = `of ${STARTS} starts, best ${Math.min(...times).toFixed(0)} ms`;
  return { name: 'start to first answer, median', value: median(times), unit: 'ms', target: 'start', note };
}

async function idling(): Promise<Figure> {
  const { router } = await startOnce();
  await pause(IDLE_MS);
  const value = memoryMib(router.pid);
  await router.kill();
  const note = value === undefined ? 'this system does not tell it' : '';
  return { name: 'memory with nothing to do', value, unit: 'MiB', target: 'idleMemory', note };
}

function size(): Figure {
  const [own, bun] = [BINARY, realpathSync(process.execPath)].map((path) => statSync(path).size / MIB);
  const note = `${own?.toFixed(1)} MiB, Bun ${bun?.toFixed(1)} MiB`;
  return { name: 'binary beyond Bun', value: (own ?? 0) - (bun ?? 0), unit: 'MiB', target: 'binary', note };
}

tell('Process', [await starting(), await idling(), size()]);
