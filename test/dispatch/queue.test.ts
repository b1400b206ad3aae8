import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { AgentChoice } from '../../src/dispatch/agent-choice.ts';
import { ok } from '../../src/lib/result.ts';
import { PLAIN_STEP } from '../../src/policy/policy.ts';
import { PolicyStore } from '../../src/policy/store.ts';
import { reading } from '../agents/readings.ts';
import { type Asked, queueBefore, waiting } from './queue-fixture.ts';
import { settled } from './streaming.ts';
import { endpointOf } from './test-site.ts';

const LOOK_MS = 1_000;

/** `waits`, `none` for a request that was sent away, or the agent whose slot it got. */
function stateOf({ outcome }: Asked): string {
  return outcome === undefined ? 'waits' : (outcome.seat?.agent.setting.id ?? 'none');
}

describe('SeatQueue', () => {
  it('gives a free slot at once, and counts no wait', async () => {
    const { ask, waits, timers } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const asked = ask('m');
    await settled();
    assert.equal(stateOf(asked), 'agent-0');
    assert.deepEqual([waits, timers.pending], [[], 0]);
  });

  it('gives a slot that comes free to the first who waits, in the same turn', async () => {
    const { ask, agents, waits, timers } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const [running, first, second] = [ask('m'), ask('m'), ask('m')];
    await settled();
    timers.advance(250);
    running.outcome?.seat?.release();
    assert.equal(agents[0]?.active, 1, 'nobody can get between');
    await settled();
    assert.deepEqual([stateOf(first), stateOf(second)], ['agent-0', 'waits']);
    assert.deepEqual(waits, [['m', 0.25]]);
    first.outcome?.seat?.release();
    await settled();
    assert.equal(stateOf(second), 'agent-0');
    assert.equal(timers.pending, 0, 'nobody is looked at who does not wait');
  });

  it('takes as many as may wait, and refuses one more at once', async () => {
    const { ask, queue, all } = queueBefore([{ models: ['m', 'n'], capacity: 1 }], 2);
    for (let count = 0; count < 3; count += 1) ask('m');
    const oneMore = ask('m');
    const other = ask('n');
    await settled();
    assert.equal(stateOf(oneMore), 'none');
    assert.equal(stateOf(other), 'waits', 'each model has a line of its own');
    assert.deepEqual(queue.depths(), [
      { model: 'm', depth: 2 },
      { model: 'n', depth: 1 },
    ]);
    all[1]?.client.abort();
    await settled();
    assert.deepEqual(all.map(stateOf), ['agent-0', 'none', 'waits', 'none', 'waits']);
    ask('m');
    await settled();
    assert.equal(waiting(all).length, 3, 'who leaves makes room');
  });

  it('lets nobody wait with a depth of 0', async () => {
    const { ask } = queueBefore([{ models: ['m'], capacity: 1 }], 0);
    ask('m');
    const second = ask('m');
    await settled();
    assert.equal(stateOf(second), 'none');
  });

  it('passes over who has asked the free agent already, who keeps the place', async () => {
    const { ask, agents } = queueBefore([
      { models: ['m'], capacity: 1 },
      { models: ['m'], capacity: 1 },
    ]);
    const [onFirst, onSecond] = [ask('m'), ask('m')];
    const [first] = agents;
    assert.ok(first !== undefined);
    const picky = ask('m', [first]);
    const other = ask('m');
    await settled();
    onFirst.outcome?.seat?.release();
    await settled();
    assert.deepEqual([stateOf(picky), stateOf(other)], ['waits', 'agent-0']);
    onSecond.outcome?.seat?.release();
    await settled();
    assert.equal(stateOf(picky), 'agent-1');
  });

  it('looks for no seat for whom a gate keeps from the free agent', async () => {
    const { ask } = queueBefore([
      { models: ['m'], capacity: 1, region: 'north' },
      { models: ['m'], capacity: 1, region: 'south' },
    ]);
    const inRegion = (region: string) => ask('m', [], { match: { ...PLAIN_STEP.match, region } });
    const [north, south] = [inRegion('north'), inRegion('south')];
    const [first, second] = [inRegion('south'), inRegion('north')];
    await settled();
    let looks = 0;
    const { search } = first;
    Object.assign(search, {
      choose: () => {
        looks += 1;
        return Object.getPrototypeOf(search).choose.call(search);
      },
    });
    north.outcome?.seat?.release();
    await settled();
    assert.deepEqual([stateOf(first), stateOf(second), looks], ['waits', 'agent-0', 0]);
    south.outcome?.seat?.release();
    await settled();
    assert.deepEqual([stateOf(first), looks], ['agent-1', 1]);
  });

  it('serves within a second whom a gate kept from a free agent, oldest first, once it opens', async () => {
    const { ask, agents, timers } = queueBefore([
      { models: ['m'], capacity: 1 },
      { models: ['m'], capacity: 1 },
    ]);
    const gated = { excludeIf: [{ metric: 'waiting_requests', operator: 'gt', value: 5 }] } as const;
    const tell = (waitingRequests: number) =>
      agents[1]?.reportMetrics(reading({ waitingRequests }), timers.monotonicMs());
    tell(6);
    ask('m', [], gated);
    const line = [ask('m', [], gated), ask('m', [], gated)];
    tell(5);
    timers.advance(LOOK_MS - 1);
    await settled();
    assert.deepEqual(line.map(stateOf), ['waits', 'waits']);
    timers.advance(1);
    await settled();
    assert.deepEqual(line.map(stateOf), ['agent-1', 'waits']);
  });

  it('serves the models of one agent in the order in which requests came', async () => {
    const { ask } = queueBefore([{ models: ['m', 'n'], capacity: 1 }]);
    const running = ask('m');
    const line = ['n', 'm', 'n'].map((model) => ask(model));
    let last = running;
    for (const next of line) {
      await settled();
      assert.equal(stateOf(next), 'waits');
      last.outcome?.seat?.release();
      await settled();
      assert.equal(stateOf(next), 'agent-0');
      last = next;
    }
  });

  it('offers what is free to those who wait before it gives it to a newcomer', async () => {
    const { ask, agents } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const [agent] = agents;
    assert.ok(agent !== undefined);
    ask('m');
    const waiter = ask('m');
    await settled();
    // A slot of which nobody was told: the capacity grew.
    Object.defineProperty(agent.setting, 'capacity', { value: 2 });
    const newcomer = ask('m');
    await settled();
    assert.deepEqual([stateOf(waiter), stateOf(newcomer)], ['agent-0', 'waits']);
  });

  it('offers them every agent that the newcomer could use, not only the one it would get', async () => {
    const { ask, agents } = queueBefore([
      { models: ['m'], capacity: 1 },
      { models: ['m'], capacity: 1 },
    ]);
    for (const agent of agents) agent.take();
    const line = [ask('m'), ask('m')];
    await settled();
    for (const agent of agents) Object.defineProperty(agent.setting, 'capacity', { value: 2 });
    const newcomer = ask('m');
    await settled();
    assert.deepEqual([...line, newcomer].map(stateOf), ['agent-0', 'agent-1', 'waits']);
  });

  it('takes each slot only once for that: a turn, and a trial, are not given to nobody', async () => {
    const { ask, agents } = queueBefore([
      { models: ['m'], capacity: 1 },
      { models: ['m'], capacity: 1 },
    ]);
    const [first, second] = agents;
    assert.ok(first !== undefined && second !== undefined);
    first.take();
    const release = second.take();
    ask('m', [second]);
    release?.();
    const turns = second.lastTaken;
    const newcomer = ask('m');
    await settled();
    assert.equal(stateOf(newcomer), 'agent-1', 'who waits cannot use it');
    assert.equal(second.lastTaken, turns + 1);
  });

  it('has a line for each capability of a model', async () => {
    const { queue, registry, timers, agents, ask } = queueBefore([{ models: ['m'], capacity: 1 }], 1);
    const setting = {
      id: 'e',
      engine: 'vllm',
      capability: 'embedding',
      backendUrl: 'http://e',
      models: ['m'],
    } as const;
    const embedder = registry.add({ ...setting, capacity: 1 });
    embedder.reportProbe(ok(['m']));
    const release = embedder.take();
    agents[0]?.take();
    const chat = ask('m');
    const request = { model: 'm', endpoint: endpointOf('/v1/embeddings'), headers: new Headers() };
    const search = new AgentChoice(request, { registry, timers, policies: new PolicyStore() });
    const taking = queue.take(search, new AbortController().signal);
    release?.();
    assert.equal((await taking)?.agent, embedder, 'the line of the chats is full, this one is not');
    assert.equal(stateOf(chat), 'waits');
  });

  it('gives a slot that nobody was told of within a second, and to one who waits', async () => {
    const { ask, agents, timers } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const [agent] = agents;
    assert.ok(agent !== undefined);
    ask('m');
    const line = [ask('m'), ask('m')];
    await settled();
    Object.defineProperty(agent.setting, 'capacity', { value: 2 });
    timers.advance(LOOK_MS);
    await settled();
    assert.deepEqual([...line.map(stateOf), agent.active], ['agent-0', 'waits', 2]);
    line[0]?.outcome?.seat?.release();
    await settled();
    assert.deepEqual([...line.map(stateOf), agent.active], ['agent-0', 'agent-0', 2]);
  });

  it('hands over to the waiting when an agent turns healthy', async () => {
    const { ask, agents } = queueBefore([
      { models: ['m'], capacity: 1 },
      { models: ['m'], capacity: 2 },
    ]);
    agents[1]?.reportConnectionRefused();
    ask('m');
    const line = [ask('m'), ask('m'), ask('m')];
    await settled();
    agents[1]?.reportProbe(ok(['m']));
    agents[1]?.reportProbe(ok(['m']));
    await settled();
    assert.deepEqual(line.map(stateOf), ['agent-1', 'agent-1', 'waits']);
  });

  it('ends the wait within a second when no agent is left that could serve', async () => {
    const { ask, agents, timers, waits } = queueBefore([{ models: ['m'], capacity: 1 }]);
    ask('m');
    const waiter = ask('m');
    agents[0]?.reportConnectionRefused();
    timers.advance(LOOK_MS - 1);
    await settled();
    assert.equal(stateOf(waiter), 'waits');
    timers.advance(1);
    await settled();
    assert.equal(stateOf(waiter), 'none');
    assert.deepEqual([timers.pending, waits], [0, []]);
  });

  it('lets nobody wait for whom there is no agent, and nobody who has left', async () => {
    const { ask, queue } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const unknown = ask('x');
    const running = ask('m');
    const left = new AbortController();
    left.abort();
    const gone = await queue.take(running.search, left.signal);
    await settled();
    assert.deepEqual([stateOf(unknown), gone], ['none', undefined]);
  });

  it('leaves no listener on the signal of a request', async () => {
    const { ask } = queueBefore([{ models: ['m'], capacity: 1 }]);
    const [running, waiter] = [ask('m'), ask('m')];
    await settled();
    running.outcome?.seat?.release();
    await settled();
    assert.deepEqual(getEventListeners(waiter.client.signal, 'abort'), []);
  });
});
