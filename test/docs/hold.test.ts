// docs/hold.md against the code: what it names is there, and what is there is named.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SETTING_ROWS } from '../../src/config/settings.ts';
import { HOLD_OUTCOMES } from '../../src/telemetry/hold-metrics.ts';

const PAGE = readFileSync(new URL('../../docs/hold.md', import.meta.url), 'utf8');

describe('docs/hold.md', () => {
  it('names every setting of its group, and none that does not exist', () => {
    const named = new Set([...PAGE.matchAll(/--[a-z][a-z-]+/g)].map(([name]) => name));
    const flags = new Set<string | undefined>(SETTING_ROWS.map(({ flag }) => flag));
    assert.deepEqual(
      [...named].filter((name) => !flags.has(name)),
      [],
    );
    const own = SETTING_ROWS.filter(({ group }) => group === 'Hold at zero').map(({ flag }) => flag ?? '');
    assert.deepEqual(
      own.filter((flag) => !named.has(flag)),
      [],
    );
  });

  it('has a row for each outcome', () => {
    const [, ...rows] = [...PAGE.matchAll(/^\|.*\| `(\w+)` \|$/gm)].map(([, outcome]) => outcome);
    assert.deepEqual(rows.toSorted(), [...HOLD_OUTCOMES].toSorted());
  });
});
