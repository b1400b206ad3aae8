import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parsePolicy } from '../../src/policy/document.ts';
import { METRICS } from '../../src/policy/metric.ts';
import { PROVIDERS, STRATEGIES } from '../../src/policy/policy.ts';

const PAGE = readFileSync(new URL('../../docs/policies.md', import.meta.url), 'utf8');

describe('docs/policies.md', () => {
  const examples = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');

  it('shows policies that load', () => {
    assert.equal(examples.length, 3);
    for (const text of examples) {
      const policy = parsePolicy(text, 'global', new Set(PROVIDERS));
      assert.ok(policy.ok, policy.ok ? '' : policy.fault.join('\n'));
    }
  });

  it('has every metric in its table, and every strategy', () => {
    const table = PAGE.slice(PAGE.indexOf('## Metrics'), PAGE.indexOf('## Strategies'));
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    assert.deepEqual(named.toSorted(), Object.keys(METRICS).toSorted());
    for (const strategy of STRATEGIES) assert.ok(PAGE.includes(`- **\`${strategy}\`**`), strategy);
  });
});
