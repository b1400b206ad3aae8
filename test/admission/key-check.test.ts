import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONTRADICTIONS_MAX, findContradictions, type PolicyTable } from '../../src/admission/key-check.ts';
import type { ApiKey } from '../../src/auth/api-key.ts';
import type { KeyQuota } from '../../src/auth/key-quota.ts';
import { complete } from '../../src/lib/steps.ts';
import { buildKey } from '../auth/key-builder.ts';

function policy(
  maxInputTokens: number,
  mode: 'reserved' | 'serverless' = 'serverless',
  models: readonly string[] = [],
) {
  return { mode, models, limits: { maxInputTokens, imagesMax: 0, admitBudgetTokens: 0, maxInflight: 0 }, shedIf: [] };
}

const NO_QUOTA: KeyQuota = {
  requestsPerMinute: undefined,
  tokensPerDay: undefined,
  inputTokensPerMinute: undefined,
  outputTokensPerMinute: undefined,
  perModel: undefined,
};

function key(inputTokensPerMinute: number | undefined, models?: readonly string[], id = 'k'): ApiKey {
  const allowedModels = models === undefined ? undefined : new Set(models);
  return buildKey(id, { allowedModels, quota: { ...NO_QUOTA, inputTokensPerMinute } });
}

const TABLE: PolicyTable = {
  global: policy(500),
  documents: new Map([
    ['large', policy(1_000, 'serverless', ['big', 'bigger'])],
    ['own', policy(9_000, 'reserved', ['mine'])],
  ]),
};

function find(keys: readonly ApiKey[], table: PolicyTable = TABLE): readonly string[] {
  return complete(findContradictions(keys, table));
}

describe('findContradictions()', () => {
  for (const [name, one, isWrong] of [
    ['finds a key for all models below the highest policy', key(999), true],
    ['passes one that has just enough', key(1_000), false],
    ['finds a key below the policy of a listed model', key(999, ['x', 'bigger']), true],
    ['finds a key below the global policy by a model that no document has', key(499, ['x']), true],
    ['passes a key that cannot reach the larger policy', key(500, ['x']), false],
    ['does not look at a policy that is not serverless', key(1, ['mine']), false],
    ['passes a key without a limit', key(undefined), false],
    ['passes a key with a limit of 0', key(0), false],
    ['passes a key without quotas', { ...key(1), quota: undefined }, false],
  ] as const) {
    it(name, () => assert.equal(find([one]).length, isWrong ? 1 : 0));
  }

  it('names key, limit and policy', () => {
    assert.deepEqual(find([key(7, ['big'], 'team-a')]), [
      'key "team-a": input_tokens_per_minute 7 must be at least max_input_tokens 1000 of policy "large"',
    ]);
    assert.match(find([key(7, ['x'])])[0] ?? '', /max_input_tokens 500 of the global policy$/);
  });

  it('looks at disabled keys too: enabling one must not break a rule', () => {
    assert.equal(find([{ ...key(1), enabled: false }]).length, 1);
  });

  it('tells the first 20', () => {
    const keys = Array.from({ length: 30 }, (_, index) => key(1, undefined, `k${index}`));
    assert.equal(find(keys).length, CONTRADICTIONS_MAX);
    assert.equal(find(keys.slice(0, 20)).length, 20);
    assert.equal(find(keys.slice(0, 19)).length, 19);
  });

  it('pauses on its way through many keys and models', () => {
    const models = Array.from({ length: 5_000 }, (_, index) => `m${index}`);
    const steps = findContradictions(
      Array.from({ length: 20 }, () => key(500, models)),
      TABLE,
    );
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    assert.ok(pauses >= 4, `${pauses} pauses`);
  });
});
