// docs/performance.md against bench/: the page names every target, with the bound that `make bench` holds it to.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { formatBound, TARGETS } from '../../bench/targets.ts';

const PAGE = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8');

describe('docs/performance.md', () => {
  it('has the targets of make bench, in their order', () => {
    const [, table = ''] = /\n## Targets\n[^|]*\n((?:\|.*\n)+)/.exec(PAGE) ?? [];
    const [, , ...rows] = table.trimEnd().split('\n');
    assert.deepEqual(
      rows.map((row) =>
        row
          .split('|')
          .slice(1, 3)
          .map((cell) => cell.trim()),
      ),
      Object.values(TARGETS).map((target) => [target.what, formatBound(target)]),
    );
  });
});
