import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { AgentChoice } from '../../src/dispatch/agent-choice.ts';
import { json, silent, startEngine, stopEngines } from './engines.ts';
import { endpointOf, failureOf, MODEL, slots, type TestSite, testSite } from './test-site.ts';

afterEach(stopEngines);

/** What a held request has waited for: a slot of the first agent. */
function heldSeat(site: TestSite) {
  const endpoint = endpointOf('/v1/chat/completions');
  const choice = new AgentChoice({ model: MODEL, endpoint, headers: new Headers() }, site.ports);
  const chosen = choice.choose();
  if (typeof chosen === 'string') assert.fail('no agent');
  const release = chosen.agent.take();
  assert.ok(release !== undefined);
  return { choice, seat: { ...chosen, release } };
}

describe('dispatch() of a request that was held', () => {
  it('takes the slot that it brings, and gives it back once', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url], { capacity: 1 });
    const held = heldSeat(site);
    assert.equal((await site.ask({ held })).kind, 'answered');
    assert.deepEqual([slots(site), engine.seen.length], [[0], 1]);
  });

  it('goes on to another agent when that one fails, as any request', async () => {
    const [failing, other] = [await startEngine(json(500, {})), await startEngine(json(200, {}))];
    const site = testSite([failing.url, other.url]);
    const held = heldSeat(site);
    assert.equal(held.seat.agent, site.agents[0]);
    assert.equal((await site.ask({ held })).kind, 'answered');
    assert.deepEqual([failing.seen.length, other.seen.length, slots(site)], [1, 1, [0, 0]]);
  });

  it('gives the slot back when its client has left in the same turn', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url], { capacity: 1 });
    const held = heldSeat(site);
    site.client.abort();
    assert.equal((await failureOf(site.ask({ held })))[0], 'client_gone');
    assert.deepEqual(slots(site), [0]);
  });
});
