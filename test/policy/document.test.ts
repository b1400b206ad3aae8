import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPolicy, POLICY_MAX_BYTES, parsePolicy } from '../../src/policy/document.ts';
import { METRICS } from '../../src/policy/metric.ts';
import { BUILT_IN_POLICY, PROVIDERS, STRATEGIES } from '../../src/policy/policy.ts';
import { CHAIN_MAX, MODELS_MAX, type PolicyKind } from '../../src/policy/schema.ts';
import { TAGS_MAX, TRIES_MAX } from '../../src/policy/step-schema.ts';

/** All that there are, so that a document is judged by its words alone. */
const KEYED = new Set(PROVIDERS);

/** As the admin API shows it, or the faults. */
function read(text: string, kind: PolicyKind = 'global'): unknown {
  const policy = parsePolicy(text, kind, KEYED);
  return policy.ok ? formatPolicy(policy.value) : policy.fault;
}

function assertReads(text: string, kind: PolicyKind = 'global'): void {
  const policy = parsePolicy(text, kind, KEYED);
  assert.ok(policy.ok, policy.ok ? '' : policy.fault.join('\n'));
}

const list = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index));
const METRIC_NAMES = Object.keys(METRICS).join(', ');

/** Every form that the documentation of the Go router shows: quoted and plain text, flow and block, comments, gaps. */
const FULL = `
# A site in two rooms.
models:
  - "org/large-70b"
  - 'large:instruct'

mode: serverless
max_input_tokens: 32000
images_max: 10
admit_budget_tokens: 100000
max_inflight: 8

shed_if:
  kv_cache_utilization: { gt: 0.90 }
  waiting_requests:     { gte: 20 }

routing_policy:
  match:
    region: "EU-North"
    engine: "vllm"
    tags: ["production", "gpu-a100"]
    organization: "research"
    machine: "rack-7"
    gpu_model: "NVIDIA A100"
  exclude_if:
    kv_cache_utilization: { gt: 0.85 }
    gpu_temperature_c:    { gt: 82 }   # hottest GPU
    success_rate:         { lt: 0.95 }
    srtt:                 { gt: 500 }
    consecutive_failures: { gte: 3 }
  strategy: "least-loaded"
  max_tries: 3

fallback_chain:

  - name: "other-room"
    match:
      engine: "vllm"
    exclude_if:
      success_rate: { lt: 0.90 }
    strategy: "least-loaded"
    max_tries: 2

  - match: {}
    exclude_if: {}
    strategy: "least-loaded"

fallback_provider:
  engine: "openai"
  model: "gpt-4o-mini"
`;

const FULL_AS_JSON = {
  models: ['org/large-70b', 'large:instruct'],
  mode: 'serverless',
  max_input_tokens: 32_000,
  images_max: 10,
  admit_budget_tokens: 100_000,
  max_inflight: 8,
  shed_if: { kv_cache_utilization: { gt: 0.9 }, waiting_requests: { gte: 20 } },
  routing_policy: {
    match: {
      region: 'EU-North',
      engine: 'vllm',
      organization: 'research',
      machine: 'rack-7',
      gpu_model: 'NVIDIA A100',
      tags: ['production', 'gpu-a100'],
    },
    exclude_if: {
      success_rate: { lt: 0.95 },
      srtt: { gt: 500 },
      consecutive_failures: { gte: 3 },
      kv_cache_utilization: { gt: 0.85 },
      gpu_temperature_c: { gt: 82 },
    },
    strategy: 'least-loaded',
    max_tries: 3,
  },
  fallback_chain: [
    {
      name: 'other-room',
      match: { engine: 'vllm' },
      exclude_if: { success_rate: { lt: 0.9 } },
      strategy: 'least-loaded',
      max_tries: 2,
    },
    { name: 'fallback_chain[1]', match: {}, strategy: 'least-loaded' },
  ],
  fallback_provider: { engine: 'openai', model: 'gpt-4o-mini' },
};

describe('parsePolicy()', () => {
  it('reads every key of the schema, in the forms of the Go router’s documentation', () => {
    for (const kind of ['named', 'global'] as const) assert.deepEqual(read(FULL, kind), FULL_AS_JSON);
  });

  it('reads what it shows, as JSON', () => {
    assert.deepEqual(read(JSON.stringify(FULL_AS_JSON), 'named'), FULL_AS_JSON);
  });

  it('takes what is left out for the built-in policy, whose mode alone is not said', () => {
    const plain = { mode: 'reserved', routing_policy: { match: {}, strategy: 'least-loaded' } };
    for (const text of [
      '{}',
      'routing_policy:',
      'mode:\nmodels:\nshed_if:',
      'max_inflight: 0',
      'routing_policy: {max_tries: 0}',
    ])
      assert.deepEqual(read(text), plain, text);
    assert.deepEqual(formatPolicy(BUILT_IN_POLICY), { routing_policy: plain.routing_policy });
  });

  it('takes empty text in match for nothing asked, as the Go router does', () => {
    assert.deepEqual(read('routing_policy: {match: {region: "", tags: []}}'), read('{}'));
  });

  for (const strategy of STRATEGIES) {
    it(`reads strategy ${strategy}`, () => assertReads(`routing_policy: {strategy: ${strategy}}`));
  }

  it('reads every operator, and numbers as YAML has them', () => {
    const text =
      'routing_policy: {exclude_if: {srtt: {gt: 1e3}, success_rate: {lte: .5}, waiting_requests: {lt: 0x10}}}';
    assert.deepEqual(Object(read(text)).routing_policy.exclude_if, {
      srtt: { gt: 1000 },
      success_rate: { lte: 0.5 },
      waiting_requests: { lt: 16 },
    });
  });

  const CASES: readonly (readonly [text: string, ...faults: readonly string[]])[] = [
    ['', 'line 1, column 1: is empty; {} is the built-in policy'],
    ['# nothing', 'line 1, column 1: is empty; {} is the built-in policy'],
    ['[]', 'line 1, column 1: […]: must be a mapping of names to values'],
    [
      'routing_polcy: {}',
      'line 1, column 1: routing_polcy: unknown key, must be one of models, mode, max_input_tokens, images_max, ' +
        'admit_budget_tokens, max_inflight, shed_if, routing_policy, fallback_chain, fallback_provider',
    ],
    ['mode: shared', 'line 1, column 1: mode "shared": must be one of reserved, serverless'],
    ['mode: [a]', 'line 1, column 1: mode […]: must be one of reserved, serverless'],
    ['images_max: -1', 'line 1, column 1: images_max -1: must be a whole number from 0 (off) to 1000000000000'],
    ['max_inflight: 1.5', 'line 1, column 1: max_inflight 1.5: must be a whole number from 0 (off) to 1000000000000'],
    ['max_inflight: "8"', 'line 1, column 1: max_inflight "8": must be a whole number from 0 (off) to 1000000000000'],
    [
      'max_input_tokens: .inf',
      'line 1, column 1: max_input_tokens .inf: must be a whole number from 0 (off) to 1000000000000',
    ],
    [
      'shed_if: {srtt: {gt: 1}}',
      'line 1, column 11: shed_if.srtt: unknown metric, must be one of kv_cache_utilization, waiting_requests',
    ],
    ['routing_policy: 3', 'line 1, column 1: routing_policy 3: must be a mapping of names to values'],
    [
      'routing_policy: {name: x}',
      'line 1, column 18: routing_policy.name: unknown key, must be one of match, exclude_if, strategy, max_tries',
    ],
    [
      'routing_policy:\n  match:\n    regoin: x\n    region: 1\n    tags: x\n',
      'line 3, column 5: routing_policy.match.regoin: unknown key, must be one of region, engine, organization, machine, gpu_model, tags',
      'line 4, column 5: routing_policy.match.region 1: a label must be text of at most 256 bytes without control characters',
      'line 5, column 5: routing_policy.match.tags "x": must be a list',
    ],
    [
      'routing_policy: {match: {tags: [a, "", 3]}}',
      'line 1, column 36: routing_policy.match.tags[1] "": a tag must be text of 1 to 256 bytes without control characters',
      'line 1, column 40: routing_policy.match.tags[2] 3: a tag must be text of 1 to 256 bytes without control characters',
    ],
    [
      'routing_policy:\n  exclude_if:\n    kv_cache: { gt: 0.9 }\n    "a b": { gt: 1 }',
      `line 3, column 5: routing_policy.exclude_if.kv_cache: unknown metric, must be one of ${METRIC_NAMES}`,
      `line 4, column 5: routing_policy.exclude_if."a b": unknown metric, must be one of ${METRIC_NAMES}`,
    ],
    [
      'routing_policy: {exclude_if: {srtt: {gt: 1, lt: 2}}}',
      'line 1, column 31: routing_policy.exclude_if.srtt {…}: must have exactly one of gt, gte, lt, lte',
    ],
    [
      'routing_policy: {exclude_if: {srtt: {}}}',
      'line 1, column 31: routing_policy.exclude_if.srtt {…}: must have exactly one of gt, gte, lt, lte',
    ],
    [
      'routing_policy: {exclude_if: {srtt: {above: 1}}}',
      'line 1, column 38: routing_policy.exclude_if.srtt.above: unknown operator, must be one of gt, gte, lt, lte',
    ],
    [
      'routing_policy: {exclude_if: {srtt: 5}}',
      'line 1, column 31: routing_policy.exclude_if.srtt 5: must be a mapping of names to values',
    ],
    [
      'routing_policy: {exclude_if: {srtt: }}',
      'line 1, column 31: routing_policy.exclude_if.srtt null: must be a mapping of names to values',
    ],
    [
      'routing_policy: {exclude_if: {srtt: {gt: }, success_rate: {lt: 95}, gpu_util_percent: {gt: 90}}}',
      'line 1, column 38: routing_policy.exclude_if.srtt.gt null: must be a number from 0 to 1000000000',
      'line 1, column 60: routing_policy.exclude_if.success_rate.lt 95: must be a share from 0 to 1, not a percentage',
      'line 1, column 88: routing_policy.exclude_if.gpu_util_percent.gt 90: must be a share from 0 to 1, not a percentage',
    ],
    [
      'routing_policy: {exclude_if: {srtt: {gt: "1"}, waiting_requests: {gt: -1}}}',
      'line 1, column 38: routing_policy.exclude_if.srtt.gt "1": must be a number from 0 to 1000000000',
      'line 1, column 67: routing_policy.exclude_if.waiting_requests.gt -1: must be a number from 0 to 1000000000',
    ],
    [
      'routing_policy: {strategy: fastest}',
      'line 1, column 18: routing_policy.strategy "fastest": must be one of least-loaded, lowest-latency, session-affinity',
    ],
    [
      'routing_policy: {max_tries: 101}',
      'line 1, column 18: routing_policy.max_tries 101: must be a whole number from 1 to 100, or 0 for the setting of the router',
    ],
    [
      'routing_policy: {max_tries: -1}',
      'line 1, column 18: routing_policy.max_tries -1: must be a whole number from 1 to 100, or 0 for the setting of the router',
    ],
    ['fallback_chain: {}', 'line 1, column 1: fallback_chain {…}: must be a list'],
    [
      'fallback_chain:\n  - name: [x]\n  - x\n',
      'line 2, column 5: fallback_chain[0].name […]: a name must be text of at most 256 bytes without control characters',
      'line 3, column 5: fallback_chain[1] "x": must be a mapping of names to values',
    ],
    [
      'fallback_provider: {engine: azure}',
      'line 1, column 1: fallback_provider: must have "model"',
      'line 1, column 21: fallback_provider.engine "azure": must be one of openai, anthropic',
    ],
    [
      'fallback_provider: {}',
      'line 1, column 1: fallback_provider: must have "engine"',
      'line 1, column 1: fallback_provider: must have "model"',
    ],
    [
      'fallback_provider: {engine: openai, model: "", api_key: s}',
      'line 1, column 48: fallback_provider.api_key: unknown key, must be one of engine, model',
      'line 1, column 37: fallback_provider.model "": a model must be text of 1 to 256 bytes without control characters',
    ],
    ['models: [a, b, a]', 'line 1, column 16: models[2] "a": is listed twice'],
    [
      'models: [7]',
      'line 1, column 10: models[0] 7: a model must be text of 1 to 256 bytes without control characters',
    ],
    ['models: []', 'line 1, column 1: models […]: must list a model'],
    ['mode: reserved\nmode: reserved', 'line 2, column 1: this name was given before'],
    ['routing_policy: &a {}\nfallback_chain: [*a]', 'line 2, column 18: aliases (*name) are not supported'],
  ];
  for (const [text, ...faults] of CASES) {
    it(`refuses ${JSON.stringify(text).slice(0, 70)}`, () => assert.deepEqual(read(text), faults));
  }

  const RESERVED = {
    'lowest-kv-cache': 'exclude_if with kv_cache_utilization',
    'lowest-queue': 'exclude_if with waiting_requests',
    'best-ttft': 'exclude_if with p90_ttft_seconds',
    'best-itl': 'exclude_if with p90_itl_seconds',
    'lowest-srtt': 'lowest-latency',
    'round-robin': 'least-loaded, which takes turns among the equally loaded',
    'prefix-aware': 'session-affinity',
  };
  for (const [name, instead] of Object.entries(RESERVED)) {
    it(`says what to use instead of ${name}, which the Go router reserves or plans`, () => {
      assert.deepEqual(read(`routing_policy: {strategy: ${name}}`), [
        `line 1, column 18: routing_policy.strategy "${name}": is reserved and implemented nowhere; use ${instead}`,
      ]);
    });
  }

  it('asks a named document for its models', () => {
    for (const text of ['{}', 'models:']) {
      assert.deepEqual(read(text, 'named'), ['line 1, column 1: must list in "models" the models that it is for']);
    }
    assertReads('models: [m]', 'named');
  });

  it('tells 20 faults and counts the rest', () => {
    const faults = read(`{${list(22, (index) => `k${index}: 1`).join(', ')}}`) as readonly string[];
    assert.deepEqual([faults.length, faults.at(-1)], [21, 'and 2 more']);
  });

  it('bounds what it takes, on both sides', () => {
    const bounded: readonly (readonly [most: number, make: (count: number) => string])[] = [
      [MODELS_MAX, (count) => `models: [${list(count, (index) => `m${index}`)}]`],
      [CHAIN_MAX, (count) => `fallback_chain: [${list(count, () => '{}')}]`],
      [TAGS_MAX, (count) => `routing_policy: {match: {tags: [${list(count, (index) => `t${index}`)}]}}`],
      [TRIES_MAX, (count) => `routing_policy: {max_tries: ${count}}`],
      [256, (count) => `routing_policy: {match: {region: ${'r'.repeat(count)}}}`],
      [256, (count) => `models: [${'m'.repeat(count)}]`],
      [1_000_000_000_000, (count) => `max_inflight: ${count}`],
      [1_000_000_000, (count) => `routing_policy: {exclude_if: {srtt: {gt: ${count}}}}`],
      [1, (count) => `routing_policy: {exclude_if: {success_rate: {lt: ${count}}}}`],
      [POLICY_MAX_BYTES, (count) => `{}${' '.repeat(count - 2)}`],
      [POLICY_MAX_BYTES / 2, (count) => `{} #${'\u00e9'.repeat(count - 2)}`],
    ];
    for (const [most, make] of bounded) {
      assertReads(make(most));
      assert.ok(!parsePolicy(make(most + 1), 'global', KEYED).ok, make(most + 1).slice(0, 80));
    }
    assert.deepEqual(read(`${'['.repeat(9)}${']'.repeat(9)}`), ['line 1, column 9: nested too deep']);
  });
});

describe('parsePolicy() of a fallback provider', () => {
  const text = 'fallback_provider:\n  engine: openai\n  model: gpt-4o-mini\n';
  const faultsWith = (...keyed: readonly (typeof PROVIDERS)[number][]) => {
    const policy = parsePolicy(text, 'global', new Set(keyed));
    return policy.ok ? [] : policy.fault;
  };

  it('takes one of which the router has a key, and refuses any other', () => {
    const rule =
      'line 2, column 3: fallback_provider.engine "openai": must be a provider that this router has a key of,';
    assert.deepEqual(faultsWith('anthropic', 'openai'), []);
    assert.deepEqual(faultsWith('anthropic'), [`${rule} which are anthropic`]);
    assert.deepEqual(faultsWith(), [`${rule} and there is a key of none`]);
  });
});
