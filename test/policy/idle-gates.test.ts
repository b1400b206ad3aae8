import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePolicy } from '../../src/policy/document.ts';
import { tellIdleGates } from '../../src/policy/idle-gates.ts';
import { METRICS } from '../../src/policy/metric.ts';
import { BUILT_IN_POLICY } from '../../src/policy/policy.ts';

function policy(text: string) {
  const read = parsePolicy(text, 'global', new Set());
  assert.ok(read.ok);
  return read.value;
}

const gateOn = (metric: string) => `exclude_if: {${metric}: {gt: 0.5}}`;

const tell = (text: string) => tellIdleGates({ global: policy(text), documents: new Map() });

describe('tellIdleGates()', () => {
  it('names the five metrics of an engine\u2019s machine, which no agent tells, and no other', () => {
    const idle = Object.keys(METRICS).filter((metric) => tell(`routing_policy: {${gateOn(metric)}}`).length > 0);
    assert.deepEqual(idle.sort(), [
      'cpu_usage_percent',
      'gpu_temperature_c',
      'gpu_util_percent',
      'gpu_vram_used_percent',
      'memory_used_percent',
    ]);
  });

  it('names policy and metric, once for all the steps', () => {
    const gate = gateOn('gpu_temperature_c');
    const documents = new Map([['a\nb', policy(`fallback_chain: [{${gate}}, {${gate}}]`)]]);
    assert.deepEqual(tellIdleGates({ global: BUILT_IN_POLICY, documents }), [
      'policy document "a\\nb": exclude_if never excludes by gpu_temperature_c: no agent of this version tells it',
    ]);
  });

  it('names 20 policies and counts the others', () => {
    const one = policy(`routing_policy: {${gateOn('cpu_usage_percent')}}`);
    const documents = new Map(Array.from({ length: 20 }, (_, index) => [`d${index}`, one]));
    assert.equal(tellIdleGates({ global: BUILT_IN_POLICY, documents }).length, 20);
    const lines = tellIdleGates({ global: one, documents });
    assert.deepEqual([lines.length, lines.at(-1)], [21, 'and 1 more']);
  });
});
