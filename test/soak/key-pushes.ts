// 50,000 keys replaced again and again while 100 requests are in flight, without and with a state directory: how long a
// replacement takes, and how long the router's event loop stands still.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLER_SECRET, manyKeys } from '../support/many-keys.ts';
import {
  ADMIN_KEY,
  engineFlags,
  manyAgents,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';
import { starvedMs, watchStall } from '../support/stall.ts';

const KEYS = 50_000;
const PUSHES = 8;
const PUSH_MAX_MS = 1_000;
const STALL_MAX_MS = 50;
const IN_FLIGHT = 100;
const ENGINE_MS = 1_000;
/** From one push to the next: a state directory tidies up meanwhile. */
const PAUSE_MS = 1_000;
const CALLER = { authorization: `Bearer ${CALLER_SECRET}` };

export function keyPushes(): Promise<string> {
  return replaceKeys([]);
}

export async function keptKeyPushes(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'soak-keys-'));
  try {
    return await replaceKeys(['--state-dir', directory]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function replaceKeys(flags: readonly string[]): Promise<string> {
  const engine = await startEngine({ name: 'e', models: ['m'], args: ['--ttft', `${ENGINE_MS}ms`] });
  const agents = engineFlags(manyAgents(engine, IN_FLIGHT / 10));
  const router = await startRouter(['--auth-mode', 'dynamic', ...agents, ...flags]);
  try {
    await push(router, manyKeys('0', 0, KEYS));
    await untilServing(router, ['m'], { headers: CALLER });
    const flow = new Flow(router);
    const bodies = Array.from({ length: PUSHES }, (_, index) => manyKeys('1', index + 1, KEYS));
    const pushMs: number[] = [];
    const work = async () => {
      for (const body of bodies) {
        pushMs.push(await push(router, body));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    const { longestMs, longestCpuMs } = await watchStall(router, work());
    const served = await flow.end();
    const slowestMs = Math.max(...pushMs);
    const told =
      `${slowestMs.toFixed(0)} ms for the slowest of ${PUSHES}, ${longestCpuMs.toFixed(0)} ms of other work before an ` +
      `answer (${longestMs.toFixed(0)} ms by the clock), ${served} requests served meanwhile`;
    if (slowestMs > PUSH_MAX_MS || longestCpuMs > STALL_MAX_MS) throw new Error(told);
    return told;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}

/** Milliseconds that it took, without those in which others had the CPU. */
async function push(router: RouterProcess, body: Uint8Array<ArrayBuffer>): Promise<number> {
  const startedMs = performance.now() - starvedMs(router.pid);
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const answer = await fetch(`${router.url}/admin/api-keys/replace`, { method: 'POST', headers, body });
  assert.equal(answer.status, 200, await answer.text());
  return performance.now() - starvedMs(router.pid) - startedMs;
}

/** As many requests at any time, until the end; one after another, so that no burst of them holds others up. */
class Flow {
  #isOver = false;
  #served = 0;
  readonly #lanes: Promise<unknown>;

  constructor(router: RouterProcess) {
    this.#lanes = Promise.all(Array.from({ length: IN_FLIGHT }, (_, lane) => this.#ask(router, lane)));
  }

  /** How many were served. */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#lanes;
    return this.#served;
  }

  async #ask(router: RouterProcess, lane: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, (lane * ENGINE_MS) / IN_FLIGHT));
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
    while (!this.#isOver) {
      const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', headers: CALLER, body });
      assert.equal(answer.status, 200, await answer.text());
      this.#served += 1;
    }
  }
}
