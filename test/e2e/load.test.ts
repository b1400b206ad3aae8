// Three engines of one model behind one router: what each of them gets to do.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilHealthy,
} from '../support/router-process.ts';

const REQUESTS = 300;
const NAMES = ['left', 'middle', 'right'];
const SHARE = REQUESTS / NAMES.length;

let engines: readonly EngineProcess[];
let router: RouterProcess;

before(async () => {
  engines = await Promise.all(NAMES.map((name) => startEngine({ name, models: ['chat'], args: ['--ttft', '5ms'] })));
  router = await startRouter(engineFlags(engines));
  await untilHealthy(router, 'chat', NAMES.length);
});

after(async () => void (await Promise.all([router, ...engines].map((running) => running.kill()))));

/** The name of the engine that answered. */
async function ask(): Promise<string> {
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] });
  const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body });
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
  return answer.headers.get('x-mock-engine') ?? '';
}

function assertEven(answeredBy: readonly string[]): void {
  assert.equal(answeredBy.length, REQUESTS);
  for (const name of NAMES) {
    const count = answeredBy.filter((answered) => answered === name).length;
    assert.ok(Math.abs(count - SHARE) <= SHARE * 0.2, `${name} answered ${count} of ${REQUESTS}`);
  }
}

describe('Three engines of one model', () => {
  it('share requests that come one after another', async () => {
    const answeredBy: string[] = [];
    for (let count = 0; count < REQUESTS; count += 1) answeredBy.push(await ask());
    assertEven(answeredBy);
  });

  it('share requests that come ten at a time', async () => {
    const clients = Array.from({ length: 10 }, async () => {
      const answeredBy: string[] = [];
      for (let count = 0; count < REQUESTS / 10; count += 1) answeredBy.push(await ask());
      return answeredBy;
    });
    assertEven((await Promise.all(clients)).flat());
  });
});
