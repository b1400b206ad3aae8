import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warningsOf } from './reading.ts';

const NOTHING = 'does nothing, this router has no gRPC, p2p or disk store';
const BOUND_BY_AGENTS =
  'does nothing, what runs is bounded by the capacity of the agents, and what waits by --queue-depth';
const NOT_YET = 'not supported yet, ignored';

/** Every setting of api.md §18 that this router does not have, by flag. */
const BY_FLAG: Readonly<Record<string, string>> = {
  'grpc-port': NOTHING,
  'p2p-port': NOTHING,
  'p2p-listen-addr': NOTHING,
  'p2p-announce-addr': NOTHING,
  'p2p-max-conns-per-ip': NOTHING,
  'session-ttl': NOTHING,
  'disk-db-path': NOTHING,
  'disk-db-ttl': NOTHING,
  'universal-flush-interval': NOTHING,
  'jwt-secret-file': NOTHING,
  'queue-size': BOUND_BY_AGENTS,
  'max-concurrent': BOUND_BY_AGENTS,
  'health-check-interval': NOT_YET,
  'heartbeat-interval': NOT_YET,
  'unhealthy-after': NOT_YET,
  'remove-after': NOT_YET,
};

/** And those that it has by variable. */
const BY_VARIABLE: Readonly<Record<string, string>> = {
  GRPC_PORT: NOTHING,
  P2P_PORT: NOTHING,
  P2P_MAX_CONNS_PER_IP: NOTHING,
  SESSION_TTL: NOTHING,
  DISK_DB_PATH: NOTHING,
  JWT_SECRET: NOTHING,
  QUEUE_SIZE: BOUND_BY_AGENTS,
  AUDIT_LOG_PATH: NOT_YET,
};

describe('judgeGoRouterSettings()', () => {
  it('warns once of each flag, whatever its value (E12)', () => {
    for (const [name, state] of Object.entries(BY_FLAG)) {
      const [warning = '', ...others] = warningsOf({ args: [`--${name}`, 'whatever'] });
      assert.deepEqual(others, []);
      assert.ok(warning.startsWith(`--${name} (HIVENET_ROUTER_`) && warning.endsWith(`): ${state}`), warning);
    }
    assert.deepEqual(warningsOf({ args: ['--reset-disk-db'] }), [
      `--reset-disk-db (HIVENET_ROUTER_RESET_DISK_DB): ${NOTHING}`,
    ]);
  });

  it('warns once of each variable, without its value (E12)', () => {
    for (const [name, state] of Object.entries(BY_VARIABLE)) {
      const [warning = '', ...others] = warningsOf({ env: { [`HIVENET_ROUTER_${name}`]: 'canary' } });
      assert.deepEqual(others, []);
      assert.ok(warning.includes(`HIVENET_ROUTER_${name}`) && warning.endsWith(`: ${state}`), warning);
      assert.ok(!warning.includes('canary'));
    }
  });

  it('warns once when flag and variable are both set, and never of an empty variable', () => {
    assert.equal(warningsOf({ args: ['--grpc-port=:1'], env: { HIVENET_ROUTER_GRPC_PORT: ':2' } }).length, 1);
    assert.deepEqual(warningsOf({ env: { HIVENET_ROUTER_GRPC_PORT: '' } }), []);
  });
});
