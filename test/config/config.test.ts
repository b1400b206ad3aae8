import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_POLICIES } from '../../src/policy/store.ts';
import { assertLines, configOf, errorsOf, REDIRECT, warningsOf } from './reading.ts';

interface Limits {
  readonly flag: string;
  readonly variable: string;
  /** Text to what the configuration then holds. */
  readonly accepted: Readonly<Record<string, unknown>>;
  readonly refused: readonly string[];
  readonly pick: (config: ReturnType<typeof configOf>) => unknown;
}

const DURATIONS_REFUSED = ['-1s', '60', '1d', '5 s', 'x', ' 1s'];

const LIMITS: readonly Limits[] = [
  {
    flag: '--http-port',
    variable: 'HIVENET_ROUTER_HTTP_PORT',
    accepted: { ':0': ':0', ':65535': ':65535', '127.0.0.1:8080': '127.0.0.1:8080', '[::1]:80': '[::1]:80' },
    refused: ['8080', ':65536', ':', '::1:80', 'http://a:1', ':8080 '],
    pick: (config) => config.http.address,
  },
  {
    flag: '--metrics-port',
    variable: 'HIVENET_ROUTER_METRICS_PORT',
    accepted: { ':0': ':0', 'localhost:2112': 'localhost:2112' },
    refused: ['2112', ':65536'],
    pick: (config) => config.metrics.address,
  },
  {
    flag: '--max-request-bytes',
    variable: 'HIVENET_ROUTER_MAX_REQUEST_BYTES',
    accepted: { '1': 1, '10485760': 10_485_760, '134217728': 134_217_728 },
    refused: ['0', '1073741825', '-1', '10MiB', '1e3', '1.5', '9'.repeat(400)],
    pick: (config) => config.http.maxRequestBytes,
  },
  {
    flag: '--body-memory',
    variable: 'HIVENET_ROUTER_BODY_MEMORY',
    accepted: { '33554432': 33_554_432, '268435456': 268_435_456, '1099511627776': 1_099_511_627_776 },
    refused: ['0', '33554431', '1099511627777', '-1', '256MiB'],
    pick: (config) => config.http.bodyMemoryBytes,
  },
  {
    flag: '--body-timeout',
    variable: 'HIVENET_ROUTER_BODY_TIMEOUT',
    accepted: { '1ms': 1, '1.5s': 1500, '1h': 3_600_000 },
    refused: ['0s', '999us', '1h1ns', ...DURATIONS_REFUSED],
    pick: (config) => config.timeouts.bodyMs,
  },
  {
    flag: '--request-timeout',
    variable: 'HIVENET_ROUTER_REQUEST_TIMEOUT',
    accepted: { '1ms': 1, '1.5s': 1500, '24h': 86_400_000 },
    refused: ['0s', '999us', '24h1ns', ...DURATIONS_REFUSED],
    pick: (config) => config.timeouts.requestMs,
  },
  {
    flag: '--stream-idle-timeout',
    variable: 'HIVENET_ROUTER_STREAM_IDLE_TIMEOUT',
    accepted: { '1ms': 1, '24h': 86_400_000 },
    refused: ['0s', '24h1ns', ...DURATIONS_REFUSED],
    pick: (config) => config.timeouts.streamIdleMs,
  },
  {
    flag: '--shutdown-delay',
    variable: 'HIVENET_ROUTER_SHUTDOWN_DELAY',
    accepted: { '0': 0, '0s': 0, '1h': 3_600_000 },
    refused: ['1h1ns', '-1ns', ...DURATIONS_REFUSED],
    pick: (config) => config.shutdown.delayMs,
  },
  {
    flag: '--shutdown-grace',
    variable: 'HIVENET_ROUTER_SHUTDOWN_GRACE',
    accepted: { '0s': 0, '24h': 86_400_000 },
    refused: ['24h1ns', '-1ns', ...DURATIONS_REFUSED],
    pick: (config) => config.shutdown.graceMs,
  },
  {
    flag: '--auth-mode',
    variable: 'HIVENET_ROUTER_AUTH_MODE',
    accepted: { none: 'none', dynamic: 'dynamic' },
    refused: ['api-key', 'None', 'jwt', ' none'],
    pick: (config) => config.auth.mode,
  },
];

describe('readConfig() reads one value', () => {
  for (const { flag, variable, accepted, refused, pick } of LIMITS) {
    it(`accepts ${flag} within its limits, by flag and by variable`, () => {
      for (const [text, value] of Object.entries(accepted)) {
        assert.deepEqual(pick(configOf({ args: [`${flag}=${text}`] })), value, text);
        assert.deepEqual(pick(configOf({ env: { [variable]: text } })), value, text);
      }
    });

    it(`refuses ${flag} beyond them in one line with both names, the value and an example (E12)`, () => {
      for (const text of refused) {
        for (const given of [{ args: [`${flag}=${text}`] }, { env: { [variable]: text } }]) {
          const [error = '', ...others] = errorsOf(given);
          assert.deepEqual(others, []);
          assert.ok(error.startsWith(`${flag} (${variable}) "${text.slice(0, 80)}`), error);
          assert.match(error, /: \S.*, for example \S+[ =]\S+$/);
        }
      }
    });
  }

  it('refuses an empty flag, which is not the default', () => {
    for (const { flag } of LIMITS) assert.equal(errorsOf({ args: [`${flag}=`] }).length, 1, flag);
  });

  it('shows the example in the words that the operator used', () => {
    assert.deepEqual(errorsOf({ args: ['--http-port', '80'] }), [
      '--http-port (HIVENET_ROUTER_HTTP_PORT) "80": not a listen address HOST:PORT, the host optional, ' +
        'for example --http-port :8080',
    ]);
    assert.deepEqual(errorsOf({ env: { HIVENET_ROUTER_REQUEST_TIMEOUT: '1d' } }), [
      '--request-timeout (HIVENET_ROUTER_REQUEST_TIMEOUT) "1d": not a duration from 1ms to 24h, ' +
        'for example HIVENET_ROUTER_REQUEST_TIMEOUT=60s',
    ]);
  });

  it('says why 0 bytes are no limit', () => {
    const [error = ''] = errorsOf({ args: ['--max-request-bytes', '0'] });
    assert.match(error, /every body has a bound/);
  });

  it('refuses a memory for bodies that is less than twice the largest one: encoded, it would be a 503 for ever', () => {
    const memory = (bytes: number) => ['--max-request-bytes=1073741824', `--body-memory=${bytes}`];
    const { maxRequestBytes, bodyMemoryBytes } = configOf({ args: memory(2_147_483_648) }).http;
    assert.deepEqual([maxRequestBytes, bodyMemoryBytes], [1_073_741_824, 2_147_483_648]);
    const [error = '', ...others] = errorsOf({ args: memory(2_147_483_647) });
    assert.deepEqual(others, []);
    assert.match(error, /^--body-memory .* "2147483647": less than twice --max-request-bytes .*1073741824/);
    assert.match(errorsOf({ args: ['--max-request-bytes=134217729'] }).join(), /--body-memory .* "268435456"/);
  });

  it('accepts the quota backend memory, and names what will replace badger (E12)', () => {
    const variable = 'HIVENET_ROUTER_QUOTA_BACKEND';
    assert.deepEqual(warningsOf({ env: { [variable]: 'memory' } }), []);
    assert.match(
      errorsOf({ env: { [variable]: 'badger' } }).join('\n'),
      /^HIVENET_ROUTER_QUOTA_BACKEND "badger": .*--state-dir/,
    );
    assert.match(
      errorsOf({ env: { [variable]: 'redis' } }).join('\n'),
      /^HIVENET_ROUTER_QUOTA_BACKEND "redis": not one of memory/,
    );
  });
});

describe('readConfig() chooses the source', () => {
  const variable = 'HIVENET_ROUTER_HTTP_PORT';

  it('takes the flag, then the variable, then the default (R-141)', () => {
    assert.equal(configOf({ args: ['--http-port', ':1'], env: { [variable]: ':2' } }).http.address, ':1');
    assert.equal(configOf({ env: { [variable]: ':2' } }).http.address, ':2');
    assert.equal(configOf({}).http.address, ':8080');
  });

  it('takes an empty variable for unset', () => {
    assert.equal(configOf({ env: { [variable]: '' } }).http.address, ':8080');
    assert.equal(configOf({ env: { [variable]: undefined } }).http.address, ':8080');
  });

  it('does not look at a variable under a flag, even a bad one', () => {
    assert.equal(configOf({ args: ['--http-port', ':1'], env: { [variable]: 'bad' } }).http.address, ':1');
  });

  it('does not fall back to a variable under a bad flag', () => {
    assert.equal(errorsOf({ args: ['--http-port', 'bad'], env: { [variable]: ':2' } }).length, 1);
    assert.equal(errorsOf({ args: ['--http-port'], env: { [variable]: ':2' } }).length, 1);
  });

  it('has defaults for all but the admin keys', () => {
    const { admin, ...others } = configOf({});
    assert.equal(admin.mode, 'api-key');
    assert.deepEqual(others, {
      http: { address: ':8080', tls: undefined, maxRequestBytes: 10_485_760, bodyMemoryBytes: 268_435_456 },
      metrics: { address: ':2112' },
      auth: { mode: 'none', file: undefined, keys: [] },
      redirect: undefined,
      stateDir: undefined,
      hold: { budgetMs: 120_000, maxPerModel: 100, maxBytes: 268_435_456, webhook: undefined },
      agents: { engines: [], file: undefined, fromFile: [] },
      modelAliases: { file: undefined, table: new Map() },
      policies: { paths: { file: undefined, directory: undefined }, keyed: new Set(), loaded: BUILT_IN_POLICIES },
      dispatch: { queueDepth: 30, maxTries: 3 },
      providers: { openai: undefined, anthropic: undefined },
      limits: { admitFraction: 0.9, admitParkMs: 250, burstSeconds: 0 },
      timeouts: { bodyMs: 60_000, requestMs: 60_000, streamIdleMs: 60_000, streamMaxMs: undefined },
      shutdown: { delayMs: 0, graceMs: 30_000 },
    });
  });
});

describe('readConfig() reads engines', () => {
  const ENGINE = '--engine (HIVENET_ROUTER_ENGINES)';
  const first = 'vllm=http://10.0.0.5:8000';
  const second = 'infinity:embedding=http://10.0.0.6:7997#bge-m3';
  const ids = (given: Parameters<typeof configOf>[0]) => configOf(given).agents.engines.map((agent) => agent.id);

  it('takes the flag as often as it stands there, in order', () => {
    assert.deepEqual(ids({ args: ['--engine', first, `--engine=${second}`] }), [
      'vllm-10.0.0.5-8000',
      'infinity-10.0.0.6-7997',
    ]);
  });

  it('separates the variable by blanks of any kind and number', () => {
    const env = { HIVENET_ROUTER_ENGINES: ` ${first}\t \n${second} ` };
    assert.deepEqual(ids({ env }), ['vllm-10.0.0.5-8000', 'infinity-10.0.0.6-7997']);
    assert.deepEqual(ids({ env: { HIVENET_ROUTER_ENGINES: '  ' } }), []);
  });

  it('does not read the variable when the flag is given', () => {
    assert.deepEqual(ids({ args: ['--engine', first], env: { HIVENET_ROUTER_ENGINES: second } }), [
      'vllm-10.0.0.5-8000',
    ]);
  });

  it('does not split a flag at blanks', () => {
    assert.equal(errorsOf({ args: ['--engine', `${first} ${second}`] }).length, 1);
  });

  it('tells every bad engine, and the value of each', () => {
    const errors = errorsOf({ args: ['--engine', 'nope=http://a', '--engine', first, '--engine', 'vllm=ftp://b'] });
    assertLines(errors, `${ENGINE} "nope=http://a": `, `${ENGINE} "vllm=ftp://b": `);
  });

  it('tells two capabilities of one address apart, and keeps the plain ID for the first', () => {
    const address = 'http://10.0.0.6:7997';
    const args = ['--engine', `infinity:reranker=${address}#r`, '--engine', `infinity:embedding=${address}#e`];
    assert.deepEqual(ids({ args }), ['infinity-10.0.0.6-7997', 'infinity-10.0.0.6-7997-embedding']);
  });

  it('refuses an agent ID that two engines would have, once', () => {
    const errors = errorsOf({ args: ['--engine', first, '--engine', `${first}/v1`, '--engine', `${first}#m`] });
    assertLines(errors, `${ENGINE} "vllm-10.0.0.5-8000": more than one engine has this agent ID`);
  });
});

describe('readConfig() as a whole', () => {
  it('tells all errors at once, the command line first, each once', () => {
    const errors = errorsOf({
      args: ['--bogus', '--http-port=80', '--request-timeout=0s', '--site-id=a b', '--engine=x'],
      env: {
        HIVENET_ROUTER_ADMIN_API_KEYS: 'k,k',
        HIVENET_ROUTER_METRICS_PORT: '90',
        HIVENET_ROUTER_QUOTA_BACKEND: 'badger',
        HIVENET_ROUTER_AUTH_CONFIG: '/etc/auth.yaml',
      },
    });
    assert.deepEqual(
      errors.map((error) => /^\S+/.exec(error)?.[0]),
      [
        '"--bogus":',
        '--http-port',
        '--metrics-port',
        '--auth-config-file',
        'HIVENET_ROUTER_ADMIN_API_KEYS:',
        '--engine',
        '--site-id',
        '--redirect-secret-file',
        '--redirect-allowed-domains',
        '--request-timeout',
        'HIVENET_ROUTER_QUOTA_BACKEND',
      ],
    );
  });

  it('hands out frozen data', () => {
    const config = configOf({ args: ['--engine', 'vllm=http://a:1#m'], env: REDIRECT });
    const { http, metrics, auth, admin, redirect, agents, timeouts, shutdown } = config;
    const parts = [config, http, metrics, auth, admin, redirect, redirect?.allowedDomains, agents, timeouts, shutdown];
    const { engines } = agents;
    for (const part of [...parts, engines, ...engines, ...engines.map((agent) => agent.models)])
      assert.ok(Object.isFrozen(part));
  });

  it('warns once of each unknown variable of ours, by name and never by value', () => {
    const env = { HIVENET_ROUTER_HTP_PORT: 'canary', HIVENET_ROUTER_X: '1', OTHER: '1', HIVENET_ROUTER_EMPTY: '' };
    assert.deepEqual(warningsOf({ env }), [
      '"HIVENET_ROUTER_HTP_PORT": unknown variable, ignored',
      '"HIVENET_ROUTER_X": unknown variable, ignored',
    ]);
  });
});
