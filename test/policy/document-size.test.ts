// The largest policy that is read, and the smallest limits that are shown.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPolicy, POLICY_MAX_TOKENS, parsePolicy } from '../../src/policy/document.ts';
import { METRICS } from '../../src/policy/metric.ts';
import { CHAIN_MAX, MODELS_MAX } from '../../src/policy/schema.ts';
import { TAGS_MAX } from '../../src/policy/step-schema.ts';

function read(text: string): unknown {
  const policy = parsePolicy(text, 'global', new Set());
  return policy.ok ? formatPolicy(policy.value) : policy.fault;
}

const list = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index));

describe('parsePolicy()', () => {
  it('takes the largest policy that can mean anything, and stops before one that would hold requests up', () => {
    const gates = Object.keys(METRICS).map((metric) => `      ${metric}: { gt: 0.5 }\n`);
    const labels = 'region: a, engine: b, organization: c, machine: d, gpu_model: e';
    const tags = list(TAGS_MAX, (index) => `t${index}`).join(' , ');
    const step = `  - name: s\n    match: { ${labels}, tags: [ ${tags} ] }\n    exclude_if:\n${gates.join('')}    max_tries: 3\n`;
    const models = list(MODELS_MAX, (index) => `  - model-${index}\n`).join('');
    assert.ok(parsePolicy(`models:\n${models}fallback_chain:\n${step.repeat(CHAIN_MAX)}`, 'named', new Set()).ok);
    const rule = `line 1, column 1: more than ${POLICY_MAX_TOKENS} words, marks and gaps`;
    assert.deepEqual(read(`{} ${'#\n'.repeat(POLICY_MAX_TOKENS)}`), [rule]);
  });
});

describe('formatPolicy()', () => {
  it('shows every limit that is on, and every single threshold', () => {
    for (const name of ['max_input_tokens', 'images_max', 'admit_budget_tokens', 'max_inflight']) {
      assert.equal((read(`${name}: 1`) as Record<string, unknown>)[name], 1);
      assert.ok(!Object.hasOwn(read(`${name}: 0`) as object, name));
    }
    const shown = read('shed_if: {waiting_requests: {gt: 0}}') as Record<string, unknown>;
    assert.deepEqual(shown['shed_if'], { waiting_requests: { gt: 0 } });
  });
});
