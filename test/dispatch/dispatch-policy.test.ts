import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { parsePolicy } from '../../src/policy/document.ts';
import { type PolicySet, PolicyStore } from '../../src/policy/store.ts';
import { deadUrl, json, silent, startEngine, startRawEngine, stopEngines } from './engines.ts';
import { settled } from './streaming.ts';
import { failureOf, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

function policiesOf(text: string): PolicySet {
  const policy = parsePolicy(text, 'global', new Set());
  if (!policy.ok) assert.fail(policy.fault.join('\n'));
  return { global: policy.value, documents: new Map() };
}

const good = () => startEngine(json(200, { id: 'good' }));
const bad = () => startEngine(json(500, { error: 'broken' }));

/** A site of agents whose engines are named by their tags, in this order. */
async function siteOf(policy: string, engines: Readonly<Record<string, { readonly url: string }>>, queueDepth = 0) {
  const names = Object.keys(engines);
  const site = testSite(
    Object.values(engines).map(({ url }) => url),
    { capacity: 1, queueDepth, policies: policiesOf(policy) },
  );
  for (const [index, agent] of site.agents.entries()) {
    agent.reconfigure({ ...agent.setting, tags: [names[index] ?? ''] });
  }
  const ask = async () => {
    const outcome = await site.ask();
    if (outcome.kind === 'failed') return `${outcome.code}: ${outcome.message}`;
    await responseOf(outcome).arrayBuffer();
    return typeof outcome.by === 'string' ? outcome.by : outcome.by?.setting.tags?.[0];
  };
  return { site, ask };
}

const LOCAL_THEN_ANY = 'routing_policy: {match: {tags: [local]}}\nfallback_chain: [{name: any}]';

describe('dispatch() by a policy', () => {
  it('asks the agents of the first step that has one, and tells which step answered', async () => {
    const { site, ask } = await siteOf(LOCAL_THEN_ANY, { other: await good(), local: await good() });
    assert.equal(await ask(), 'local');
    site.agents[1]?.take();
    assert.equal(await ask(), 'other');
    assert.deepEqual(site.routed, ['primary', 'fallback']);
    assert.deepEqual(site.lacks, []);
  });

  it('moves on after max_tries of a step, and may ask an agent again in a later step', async () => {
    const engines = { a: await bad(), b: await bad() };
    const policy = 'routing_policy: {max_tries: 1}\nfallback_chain: [{name: again, max_tries: 2}]';
    const { site, ask } = await siteOf(policy, engines);
    assert.equal(await ask(), 'backend_error: broken');
    assert.equal(site.failedTries.length, 3);
    assert.deepEqual(site.lacks, ['routing_policy: max_tries=1 | again: max_tries=2']);
    assert.deepEqual([site.routed, slots(site)], [[], [0, 0]]);
  });

  it('ends a step at --max-tries-per-step where it does not say', async () => {
    const engines = { a: await bad(), b: await bad(), c: await bad(), d: await good() };
    const { site, ask } = await siteOf('{}', engines);
    assert.equal(await ask(), 'backend_error: broken');
    assert.equal(site.failedTries.length, 3);
    const more = new PolicyStore(policiesOf('{}'), 4);
    Object.assign(site.ports, { policies: more });
    for (const agent of site.agents.slice(0, 3)) agent.record.succeeded();
    site.agents[3]?.take()?.();
    assert.equal(await ask(), 'd');
  });

  it('spends no try on a refused connection, and asks that agent no more in the step', async () => {
    const engines = { dead: { url: await deadUrl() }, local: await good() };
    const { site, ask } = await siteOf('routing_policy: {max_tries: 1}', engines);
    assert.equal(await ask(), 'local');
    assert.deepEqual([site.failedTries, site.routed], [[], ['primary']]);
  });

  it('ends by the last answer, and names the agent asked last, also where a connection was refused after it', async () => {
    const { site, ask } = await siteOf('{}', { broken: await bad(), dead: { url: await deadUrl() } });
    assert.equal(await ask(), 'backend_error: broken');
    const onlyDead = await siteOf('{}', { dead: { url: await deadUrl() } });
    const outcome = await onlyDead.site.ask();
    assert.ok(outcome.kind === 'failed' && outcome.code === 'no_agents_available');
    assert.equal(outcome.by, onlyDead.site.agents[0]);
    assert.deepEqual(site.lacks, ['routing_policy: prev_failures=1 health=1']);
  });

  it('ends by the last answer also when its agent became another engine meanwhile', async () => {
    const { site, ask } = await siteOf('{}', { broken: await bad() });
    const [agent] = site.agents;
    const onFailedTry = () => agent?.reconfigure({ ...agent.setting, engine: 'infinity' });
    Object.assign(site.ports, { onFailedTry });
    assert.equal(await ask(), 'backend_error: broken');
  });

  it('repeats a broken connection for free only within the policy', async () => {
    const broken = await startRawEngine((socket) => socket.destroy());
    const { site, ask } = await siteOf('routing_policy: {match: {tags: [local]}}', {
      local: broken,
      other: await good(),
    });
    assert.match((await ask()) ?? '', /^backend_error: /);
    assert.deepEqual([site.failedTries.length, slots(site)], [1, [0, 0]]);
  });

  it('goes to a later step for that where another agent has a slot, and to the same agent where none has', async () => {
    const policy =
      'routing_policy: {match: {tags: [local]}, max_tries: 1}\nfallback_chain: [{name: any, max_tries: 1}]';
    let connections = 0;
    const broken = await startRawEngine((socket) => {
      connections += 1;
      socket.destroy();
    });
    const { site, ask } = await siteOf(policy, { local: broken, other: await good() });
    assert.equal(await ask(), 'other');
    assert.deepEqual([connections, site.routed, slots(site)], [1, ['fallback'], [0, 0]]);
    site.agents[1]?.take();
    assert.match((await ask()) ?? '', /^backend_error: /);
    assert.equal(connections, 4, 'the free repetition, then a try of the later step');
    assert.deepEqual(site.lacks, ['routing_policy: max_tries=1 | any: max_tries=1']);
    assert.equal(site.agents[0]?.record.failures, 3);
  });

  it('tells what every step lacked, once a request, and has no capacity if one lacked but a slot', async () => {
    const { site, ask } = await siteOf(LOCAL_THEN_ANY, { local: await good(), down: await good() });
    site.agents[0]?.take();
    site.agents[1]?.reportConnectionRefused();
    assert.deepEqual(await failureOf(site.ask()), ['no_capacity', 'All agents of the model "m" are busy.']);
    assert.deepEqual(site.lacks, ['routing_policy: capacity=1 health=1 | any: capacity=1 health=1']);
    site.agents[0]?.drain();
    assert.equal(await ask(), 'no_agents_available: No agent of the model "m" is available.');
    assert.equal(site.lacks[1], 'routing_policy: health=2 | any: health=2');
  });

  it('waits only for an agent that its policy takes', async () => {
    const policy = 'routing_policy: {match: {tags: [local]}}';
    const { site, ask } = await siteOf(policy, { local: await good(), other: await good() }, 1);
    const release = site.agents[0]?.take();
    const asking = ask();
    await settled();
    site.agents[1]?.take()?.();
    await settled();
    assert.deepEqual(site.waits, []);
    release?.();
    assert.equal(await asking, 'local');
    assert.equal(site.waits.length, 1);
  });

  it('tells nothing of a request that its client or the router ended', async () => {
    const { site } = await siteOf(LOCAL_THEN_ANY, { local: await good() }, 1);
    site.agents[0]?.take();
    const asking = failureOf(site.ask());
    await settled();
    site.client.abort();
    assert.equal((await asking)[0], 'client_gone');
    const engine = await startEngine(silent);
    const cut = (await siteOf(LOCAL_THEN_ANY, { local: engine })).site;
    const answering = failureOf(cut.ask());
    await engine.nextRequest();
    cut.client.abort();
    assert.equal((await answering)[0], 'client_gone');
    for (const { lacks, routed } of [site, cut]) assert.deepEqual([lacks, routed], [[], []]);
  });
});
