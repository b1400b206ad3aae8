import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { formatSettingsTable } from '../../src/config/help.ts';

describe('README.md', () => {
  it('holds the table of settings between its markers, as config/settings.ts has it', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, table] = /<!-- settings -->\n([\s\S]*?)\n<!-- \/settings -->/.exec(readme) ?? [];
    assert.equal(table?.trim(), formatSettingsTable());
  });
});
