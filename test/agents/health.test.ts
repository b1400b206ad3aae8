import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AgentHealth, FLAP_MS, RESTART_MS } from '../../src/agents/health.ts';
import { FakeClocks } from './fake-clocks.ts';

function newHealth() {
  const clocks = new FakeClocks();
  const changes: string[] = [];
  const health = new AgentHealth(clocks, (from, to, reason) => changes.push(`${from} → ${to} (${reason})`));
  const good = (count = 1) => {
    for (let probe = 0; probe < count; probe += 1) health.reportGoodProbe();
  };
  const failed = (count = 1) => {
    for (let probe = 0; probe < count; probe += 1) health.reportFailedProbe('status 503');
  };
  return { health, clocks, changes, good, failed };
}

function healthy() {
  const made = newHealth();
  made.good();
  made.changes.length = 0;
  return made;
}

describe('AgentHealth.status', () => {
  it('tells state, reason and wall time of the last change', () => {
    const { health, clocks, good } = newHealth();
    assert.deepEqual(health.status, { state: 'starting', reason: 'not probed yet', sinceMs: 0 });
    clocks.elapsedMs = 7;
    good();
    assert.deepEqual(health.status, { state: 'healthy', reason: 'probe answered', sinceMs: 7 });
    clocks.elapsedMs = 9;
    good();
    assert.equal(health.status.sinceMs, 7);
    health.reportConnectionRefused();
    assert.deepEqual(health.status, { state: 'unhealthy', reason: 'connection refused', sinceMs: 9 });
  });

  it('tells why a start takes long, as the last probe has it', () => {
    const { health, changes } = newHealth();
    health.reportFailedProbe('GET /health: connection failed');
    health.reportFailedProbe('GET /v1/models: no model listed');
    assert.equal(health.status.reason, 'GET /v1/models: no model listed');
    assert.equal(changes.length, 1);
  });
});

describe('AgentHealth against flapping', () => {
  it('does not change for one missed probe, nor for two, however often (field report on long prefills)', () => {
    const { changes, good, failed } = healthy();
    for (let flap = 0; flap < 10; flap += 1) {
      failed(1);
      good(1);
      failed(2);
      good(1);
    }
    assert.deepEqual(changes, []);
  });

  it('changes once while probes alternate ten times after a refused connection', () => {
    const { health, changes, good, failed } = healthy();
    for (let flap = 0; flap < 10; flap += 1) {
      health.reportConnectionRefused();
      good(1);
      failed(1);
    }
    assert.deepEqual(changes, ['healthy → unhealthy (connection refused)']);
  });

  it('looks closely once for an engine that is lost again soon after it came back', () => {
    const { health, clocks, good } = healthy();
    health.reportConnectionRefused();
    assert.equal(health.wantsCloseProbes, true);
    good(2);
    clocks.elapsedMs += FLAP_MS - 1;
    health.reportConnectionRefused();
    assert.equal(health.wantsCloseProbes, false);
    good(2);
    clocks.elapsedMs += FLAP_MS;
    health.reportConnectionRefused();
    assert.equal(health.wantsCloseProbes, true);
  });
});

describe('AgentHealth.wantsCloseProbes', () => {
  it('is true while it starts, and for a minute after a refused connection', () => {
    const { health, clocks, good } = newHealth();
    assert.equal(health.wantsCloseProbes, true);
    good();
    assert.equal(health.wantsCloseProbes, false);
    clocks.elapsedMs = 1_000;
    health.reportConnectionRefused();
    clocks.elapsedMs += RESTART_MS - 1;
    assert.equal(health.wantsCloseProbes, true);
    clocks.elapsedMs += 1;
    assert.equal(health.wantsCloseProbes, false);
  });

  it('is false for an engine that came back and then fails its probes', () => {
    const { health, good, failed } = healthy();
    health.reportConnectionRefused();
    good(2);
    failed(3);
    assert.equal(health.status.state, 'unhealthy');
    assert.equal(health.wantsCloseProbes, false);
  });

  it('is false for an engine that failed its probes: it is there, and slow', () => {
    const { health, failed } = healthy();
    failed(3);
    assert.equal(health.status.state, 'unhealthy');
    assert.equal(health.wantsCloseProbes, false);
  });
});

describe('AgentHealth.drain()', () => {
  it('ends probing, and no probe nor refusal ends it', () => {
    const { health, changes, good, failed } = healthy();
    health.drain('maintenance');
    good(5);
    failed(5);
    health.reportConnectionRefused();
    health.drain('again');
    assert.equal(health.isProbed, false);
    assert.deepEqual(changes, ['healthy → draining (maintenance)']);
  });

  it('is over with a restart, which needs one good probe', () => {
    const { health, good } = healthy();
    health.drain('maintenance');
    health.restart('resumed');
    assert.equal(health.status.state, 'starting');
    good();
    assert.equal(health.status.state, 'healthy');
  });
});

describe('AgentHealth.restart()', () => {
  it('is another start while it starts, told by status alone', () => {
    const { health, clocks, changes } = newHealth();
    clocks.elapsedMs = 7;
    health.restart('configuration changed');
    assert.deepEqual(health.status, { state: 'starting', reason: 'configuration changed', sinceMs: 7 });
    assert.deepEqual(changes, []);
  });

  it('forgets what probes said before', () => {
    const { health, changes, failed } = healthy();
    failed(1);
    health.restart('configuration changed');
    failed(1);
    assert.deepEqual(changes, ['healthy → starting (configuration changed)', 'starting → starting (status 503)']);
  });
});

describe('AgentHealth.end()', () => {
  it('is the end', () => {
    const { health, changes, good } = healthy();
    health.end('removed');
    good();
    health.restart('no');
    health.drain('no');
    assert.deepEqual(changes, ['healthy → gone (removed)']);
  });
});
