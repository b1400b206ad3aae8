import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { createAgents, watchEngines } from '../../src/cli/wire-agents.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { parseTimestamp } from '../../src/lib/timestamp.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { KEEP_ALIVE_MS, RegistrationStream } from '../../src/telemetry/registration-stream.ts';
import { FakeTimers } from '../agents/fake-timers.ts';

const SETTING = {
  id: 'a',
  engine: 'vllm',
  capability: 'llm',
  backendUrl: 'http://a',
  models: ['m'],
  capacity: 1,
  deploymentId: 'dep-1',
  replicaId: 'rep-1',
} as const;

/** One configured agent, what subscribers were told of it, and the log. */
function wired() {
  const lines: string[] = [];
  const registrations = new RegistrationStream();
  const stream = registrations.subscribe(() => undefined);
  const healthy: string[] = [];
  const agents = createAgents(
    { engines: [SETTING], file: undefined, fromFile: [{ ...SETTING, id: 'b' }] },
    {
      log: createLog(
        () => 0,
        (line) => void lines.push(line.slice('1970-01-01T00:00:00.000Z '.length).trimEnd()),
      ),
      registrations,
      onHealthy: () => void healthy.push('healthy'),
    },
  );
  const told = async () => {
    registrations.close();
    const text = await new Response(stream).text();
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    return frames.map((frame) => JSON.parse(frame.slice(6)) as Record<string, string>);
  };
  const agent = agents.get('a');
  assert.ok(agent !== undefined);
  return { agents, agent, lines, healthy, registrations, told };
}

describe('createAgents()', () => {
  it('tells subscribers when an agent can be given requests and when it cannot, once each (G18)', async () => {
    const { agent, told, healthy } = wired();
    agent.reportProbe(fault('status 503'));
    agent.reportProbe(ok(['m']));
    agent.reportProbe(ok(['m']));
    const release = agent.take();
    agent.reportConnectionRefused();
    agent.reportConnectionRefused();
    agent.leave();
    release?.();
    const events = await told();
    assert.deepEqual(
      events.map(({ timestamp: _timestamp, ...event }) => event),
      ['registered', 'unregistered'].map((type) => ({
        event_type: type,
        deployment_id: 'dep-1',
        replica_id: 'rep-1',
        agent_id: 'a',
      })),
    );
    for (const { timestamp = '' } of events) assert.notEqual(parseTimestamp(timestamp), undefined);
    assert.deepEqual(healthy, ['healthy']);
  });

  it('tells nothing of an agent that never could', async () => {
    const { agent, told } = wired();
    agent.reportProbe(fault('status 503'));
    agent.drain();
    agent.leave();
    assert.deepEqual(await told(), []);
  });

  it('logs each change with its reason, and the first failed probe of a start', () => {
    const { agent, lines } = wired();
    agent.reportProbe(fault('GET /health: status 503'));
    agent.reportProbe(fault('GET /health: status 503'));
    agent.reportProbe(ok(['m']));
    assert.deepEqual(lines, [
      'INFO Agent is not ready yet agent_id="a" reason="GET /health: status 503"',
      'INFO Agent changed state agent_id="a" from="starting" to="healthy" reason="probe answered"',
    ]);
  });

  it('knows who brought each agent in', () => {
    const { agents } = wired();
    assert.deepEqual([agents.ownerOf('a'), agents.ownerOf('b')], ['engine', 'file']);
  });
});

describe('watchEngines()', () => {
  /** What its timers would do, and what engines were asked. */
  function watching() {
    const { agents, lines, registrations } = wired();
    const timers = new FakeTimers();
    const asked: string[] = [];
    const fetch: EngineFetch = async (url) => {
      asked.push(url);
      return new Response('', { status: url.endsWith('/health') ? 200 : 404 });
    };
    const log = createLog(
      () => 0,
      (line) => void lines.push(line.slice('1970-01-01T00:00:00.000Z '.length).trimEnd()),
    );
    const stop = watchEngines(agents, { fetch, timers, log, registrations, isAwaited: () => false });
    return { timers, asked, lines, stop, registrations };
  }

  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('probes, reads metrics and gives signs of life, until it is stopped', async () => {
    const { timers, asked, stop, lines, registrations } = watching();
    const told = new Response(registrations.subscribe(() => undefined)).text();
    await settled();
    timers.advance(KEEP_ALIVE_MS);
    await settled();
    assert.deepEqual([...new Set(asked)].toSorted(), ['http://a/health', 'http://a/metrics']);
    assert.ok(lines.some((line) => line.startsWith('INFO No engine metrics agent_id="a"')));
    stop();
    assert.equal(timers.pending, 0);
    registrations.close();
    assert.match(await told, /: alive\n\n$/);
  });
});
