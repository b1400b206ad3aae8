import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { deadUrl, json, startEngine, stopEngines } from './engines.ts';
import { settled } from './streaming.ts';
import { failureOf, testSite } from './test-site.ts';

afterEach(stopEngines);

const MAY = { mayDecideAgain: () => true };

describe('dispatch() of a request that may be decided again', () => {
  it('ends as unreached after a refused connection, with nothing said of it', async () => {
    const site = testSite([await deadUrl()]);
    const reached: string[] = [];
    const outcome = await site.ask({ ...MAY, onReached: () => void reached.push('reached') });
    assert.deepEqual(
      [outcome.kind, reached, site.lacks, site.exhausted, site.timers.pending],
      ['unreached', [], [], [], 0],
    );
    assert.equal(site.agents[0]?.record.failures, 1);
  });

  it('ends so when its last agent goes while it waits for a slot', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url], { capacity: 1, queueDepth: 1 });
    site.agents[0]?.take();
    const asking = site.ask(MAY);
    await settled();
    site.agents[0]?.reportConnectionRefused();
    site.timers.advance(1_000);
    assert.equal((await asking).kind, 'unreached');
  });

  it('does not when its client leaves while it waits for a slot', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url], { capacity: 1, queueDepth: 1 });
    site.agents[0]?.take();
    const asking = site.ask(MAY);
    await settled();
    site.client.abort();
    assert.equal((await failureOf(asking))[0], 'client_gone');
  });

  it('does not when it may not, when its client has left, or when an engine has had it', async () => {
    const dead = await deadUrl();
    assert.equal((await failureOf(testSite([dead]).ask({ mayDecideAgain: () => false })))[0], 'no_agents_available');
    const left = testSite([dead]);
    left.client.abort();
    assert.equal((await failureOf(left.ask(MAY)))[0], 'client_gone');
    const failing = await startEngine(json(500, { error: 'x' }));
    assert.equal((await failureOf(testSite([failing.url, dead]).ask(MAY)))[0], 'backend_error');
  });

  it('frees no slot of an engine that refused before nobody is sent there any more', async () => {
    const site = testSite([await deadUrl()], { capacity: 1, queueDepth: 1 });
    const asking = [site.ask(MAY), site.ask(MAY)];
    while (site.agents[0]?.state === 'healthy') await settled();
    site.timers.advance(1_000);
    await Promise.all(asking);
    assert.equal(site.agents[0]?.record.failures, 1);
  });
});
