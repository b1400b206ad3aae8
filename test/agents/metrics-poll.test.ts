import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting, EngineName } from '../../src/agents/agent-setting.ts';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { EXPOSITION_MAX_BYTES, SCRAPE_TIMEOUT_MS, startMetricsPolling } from '../../src/agents/metrics-poll.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { FakeTimers } from './fake-timers.ts';

const METRICS = 'vllm:num_requests_running 3\n';

/** What the engine answers; undefined: nothing, until it is asked no longer. */
type Answer = (() => Response) | undefined;

const up: Answer = () => new Response(METRICS);
const off: Answer = () => new Response('', { status: 404 });

/** A registry under polling, whose agents are healthy, with engines that answer as the test sets. */
function polling(...engines: readonly EngineName[]) {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined);
  const answers = new Map<string, Answer>();
  const scrapes: string[] = [];
  const aborted: unknown[] = [];
  const changes: string[] = [];
  const add = (engine: EngineName, more: Partial<AgentSetting> = {}) => {
    const id = `${engine}-${registry.all().length}`;
    const setting = { id, engine, capability: 'llm', backendUrl: `http://${id}`, models: ['m'], capacity: 1 } as const;
    const agent = registry.add({ ...setting, ...more });
    agent.reportProbe(ok(['m']));
    answers.set(id, up);
    return agent;
  };
  const fetch: EngineFetch = async (url, { signal }) => {
    scrapes.push(url);
    const answer = answers.get(new URL(url).hostname);
    if (answer !== undefined) return answer();
    return new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => {
        aborted.push(url);
        reject(signal.reason);
      }),
    );
  };
  const agents = engines.map((engine) => add(engine));
  const stop = startMetricsPolling(registry, {
    fetch,
    timers,
    onChange: ({ setting }, reason) => changes.push(`${setting.id}: ${reason}`),
  });
  /** Lets time pass in ticks; answers come after each. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      timers.advance(500);
      await settled();
    }
  };
  return { timers, registry, answers, scrapes, aborted, changes, agents, add, stop, pass };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('startMetricsPolling()', () => {
  it('reads the metrics of a healthy agent every 500 ms and keeps when they were taken', async () => {
    const { scrapes, agents, pass } = polling('vllm');
    await pass(500);
    assert.deepEqual(scrapes, ['http://vllm-0/metrics']);
    assert.equal(agents[0]?.metrics?.metrics.runningRequests, 3);
    assert.equal(agents[0]?.metrics?.takenMs, 500);
    await pass(2000);
    assert.equal(scrapes.length, 5);
    assert.equal(agents[0]?.metrics?.takenMs, 2500);
  });

  it('reads the metrics of another engine at once, and none of the one that an agent had before', async () => {
    const { timers, registry, scrapes, answers, agents, pass } = polling('vllm');
    const [agent] = agents;
    if (agent === undefined) throw new Error('no agent');
    timers.advance(500);
    answers.set('other', up);
    registry.put({ ...agent.setting, backendUrl: 'http://other' }, 'push');
    agent.reportProbe(ok(['m']));
    await settled();
    const takenMs = () => agent.metrics?.takenMs;
    assert.equal(takenMs(), undefined);
    await pass(500);
    assert.deepEqual(scrapes, ['http://vllm-0/metrics', 'http://other/metrics']);
    assert.equal(takenMs(), 1000);
  });

  it('asks no engine that has no metrics', async () => {
    const { scrapes, pass } = polling('ollama', 'infinity', 'custom');
    await pass(2000);
    assert.deepEqual(scrapes, []);
  });

  it('asks no agent that is not healthy, and asks it again once it is', async () => {
    const { scrapes, agents, pass } = polling('vllm');
    for (let count = 0; count < 3; count += 1) agents[0]?.reportProbe(fault('down'));
    await pass(2000);
    assert.equal(scrapes.length, 0);
    for (let count = 0; count < 2; count += 1) agents[0]?.reportProbe(ok(['m']));
    await pass(500);
    assert.equal(scrapes.length, 1);
  });

  it('never has two scrapes of one agent in flight, and ends one without an answer after its timeout', async () => {
    const { answers, scrapes, aborted, changes, pass } = polling('vllm', 'vllm');
    answers.set('vllm-0', undefined);
    await pass(500 + SCRAPE_TIMEOUT_MS - 500);
    assert.equal(scrapes.filter((url) => url.includes('vllm-0')).length, 1);
    assert.equal(scrapes.filter((url) => url.includes('vllm-1')).length, SCRAPE_TIMEOUT_MS / 500);
    assert.deepEqual(aborted, []);
    await pass(500);
    assert.deepEqual(aborted, ['http://vllm-0/metrics']);
    assert.deepEqual(changes, ['vllm-0: GET /metrics: no answer in time']);
  });

  it('keeps the last metrics and the agent’s health when scrapes fail', async () => {
    const { answers, agents, pass } = polling('vllm');
    await pass(500);
    answers.set('vllm-0', off);
    await pass(30_000);
    assert.equal(agents[0]?.state, 'healthy');
    assert.equal(agents[0]?.metrics?.takenMs, 500);
  });

  it('asks a failing engine at once twice more, then after twice the time each, at most every 30 s', async () => {
    const { answers, scrapes, pass } = polling('vllm');
    answers.set('vllm-0', off);
    const asked: number[] = [];
    for (let ms = 500; ms <= 150_000; ms += 500) {
      const before = scrapes.length;
      await pass(500);
      if (scrapes.length > before) asked.push(ms / 1000);
    }
    assert.deepEqual(asked, [0.5, 1, 1.5, 2, 3, 5, 9, 17, 33, 63, 93, 123]);
  });

  it('is back at 500 ms after one good scrape', async () => {
    const { answers, scrapes, pass } = polling('vllm');
    answers.set('vllm-0', off);
    await pass(9000);
    answers.set('vllm-0', up);
    await pass(8000);
    const before = scrapes.length;
    await pass(2000);
    assert.equal(scrapes.length - before, 4);
  });

  it('tells of the first failure and of the first good scrape after it, and of no other', async () => {
    const { answers, changes, pass } = polling('vllm');
    await pass(1000);
    assert.deepEqual(changes, []);
    answers.set('vllm-0', off);
    await pass(1500);
    assert.deepEqual(changes, ['vllm-0: GET /metrics: status 404']);
    answers.set('vllm-0', up);
    await pass(2000);
    assert.deepEqual(changes, ['vllm-0: GET /metrics: status 404', 'vllm-0: undefined']);
  });

  it('tells nothing again, and asks no sooner, when only metadata of the agent change', async () => {
    const { registry, answers, changes, scrapes, agents, pass } = polling('vllm');
    answers.set('vllm-0', off);
    await pass(33_000);
    const before = scrapes.length;
    for (const region of ['eu', 'us']) {
      for (const { setting } of agents) registry.put({ ...setting, region }, 'push');
      await pass(10_000);
    }
    assert.equal(scrapes.length, before);
    assert.deepEqual(changes, ['vllm-0: GET /metrics: status 404']);
  });

  it('counts a scrape that was in flight when metadata of the agent changed', async () => {
    const { registry, agents, timers } = polling('vllm');
    timers.advance(500);
    for (const { setting } of agents) registry.put({ ...setting, region: 'eu' }, 'push');
    await settled();
    assert.equal(agents[0]?.metrics?.takenMs, 500);
  });

  const useless: readonly (readonly [what: string, answer: () => Response, reason: string])[] = [
    ['another engine’s metrics', () => new Response('sglang:token_usage 1'), "none of the engine's metrics"],
    ['what is not UTF-8', () => new Response(Uint8Array.of(0xff)), "none of the engine's metrics"],
    ['too long an answer', () => new Response(' '.repeat(EXPOSITION_MAX_BYTES + 1)), 'answer above 4194304 bytes'],
  ];
  for (const [what, answer, reason] of useless) {
    it(`takes ${what} for a failure`, async () => {
      const { answers, changes, agents, pass } = polling('vllm');
      answers.set('vllm-0', answer);
      await pass(500);
      assert.deepEqual(changes, [`vllm-0: GET /metrics: ${reason}`]);
      assert.equal(agents[0]?.metrics, undefined);
    });
  }

  it(`reads an answer of ${EXPOSITION_MAX_BYTES} bytes`, async () => {
    const { answers, agents, pass } = polling('vllm');
    answers.set('vllm-0', () => new Response(METRICS.padEnd(EXPOSITION_MAX_BYTES, '\n')));
    await pass(500);
    assert.equal(agents[0]?.metrics?.metrics.runningRequests, 3);
  });

  it('reads the metrics of an agent that was added later', async () => {
    const { add, pass } = polling('vllm');
    await pass(500);
    const late = add('vllm');
    await pass(500);
    assert.equal(late.metrics?.takenMs, 1000);
  });

  it('stops: the scrape in flight is ended and counts for nothing, and no timer is left', async () => {
    const { answers, scrapes, aborted, changes, timers, stop, pass } = polling('vllm');
    answers.set('vllm-0', undefined);
    await pass(500);
    stop();
    await settled();
    assert.equal(aborted.length, 1);
    assert.deepEqual(changes, []);
    assert.equal(timers.pending, 0);
    await pass(2000);
    assert.equal(scrapes.length, 1);
  });

  it('ends the scrape of an agent that is gone', async () => {
    const { registry, answers, aborted, changes, pass } = polling('vllm', 'vllm');
    answers.set('vllm-0', undefined);
    await pass(500);
    const [, left] = registry.all();
    registry.all = () => (left === undefined ? [] : [left]);
    await pass(500);
    assert.deepEqual(aborted, ['http://vllm-0/metrics']);
    assert.deepEqual(changes, []);
  });
});
