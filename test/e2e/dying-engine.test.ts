// One of three engines dies under load: what its clients see, and how soon nobody is sent there any more.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Load } from '../support/load.ts';
import {
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilHealthy,
} from '../support/router-process.ts';

const CLIENTS = 24;
/** Slots of one agent. */
const CAPACITY = 10;
const NAMES = ['left', 'middle', 'right'];

let engines: readonly EngineProcess[];
let router: RouterProcess;

before(async () => {
  const args = ['--ttft', '10ms', '--tokens-per-second', '200'];
  engines = await Promise.all(NAMES.map((name) => startEngine({ name, models: ['chat'], args })));
  router = await startRouter(engineFlags(engines));
  await untilHealthy(router, 'chat', NAMES.length);
});

after(async () => void (await Promise.all([router, ...engines].map((running) => running.kill()))));

describe('An engine that dies under load', () => {
  it('costs at most the streams that it had begun, and gets no request any more', { timeout: 20_000 }, async () => {
    const load = new Load(router.url, 'chat', CLIENTS);
    await eventually('every engine has answered', () => {
      const names = new Set(load.answered.map(({ engine }) => engine));
      return NAMES.every((name) => names.has(name)) || undefined;
    });
    await engines[1]?.kill();
    await router.line((line) => line.includes('reason="connection refused"'), 'stderr');
    const movedMs = performance.now();
    await eventually('many more answers', () => {
      const later = load.answered.filter(({ startedMs }) => startedMs > movedMs);
      return later.length > 4 * CLIENTS || undefined;
    });
    await load.stop();
    const lost = load.answered.filter(({ isWhole }) => !isWhole);
    assert.ok(lost.length <= CAPACITY, `${lost.length} lost`);
    assert.deepEqual(
      lost.map(({ isStream, status }) => [isStream, status]),
      lost.map(() => [true, 200]),
      'only a stream that had begun is lost',
    );
    const later = load.answered.filter(({ startedMs }) => startedMs > movedMs);
    assert.deepEqual([...new Set(later.map(({ engine }) => engine))].sort(), ['left', 'right']);
    assert.ok(later.every(({ isWhole }) => isWhole));
  });
});
