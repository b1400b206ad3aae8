import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatHelp, formatSettingsTable } from '../../src/config/help.ts';
import { GROUPS } from '../../src/config/setting.ts';
import { SETTING_ROWS } from '../../src/config/settings.ts';

describe('formatHelp()', () => {
  const lines = formatHelp().split('\n');

  it('shows usage and both commands', () => {
    assert.ok(lines[0]?.startsWith('Usage: hivenet-router [serve] '));
    for (const command of ['serve', 'mock-engine']) assert.ok(lines.some((line) => line.startsWith(`  ${command} `)));
  });

  it('shows every setting once, with flag, variable and default, under its group', () => {
    for (const { group, flag, variable, argument, fallback } of SETTING_ROWS) {
      const head = flag === undefined ? `  ${variable}=${argument}` : `  ${flag} ${argument}`;
      const start = lines.indexOf(head);
      assert.ok(start > 0, head);
      assert.equal(lines.indexOf(head, start + 1), -1);
      const heading = lines.slice(0, start).findLast((line) => /^\S/.test(line));
      assert.equal(heading, `${group}:`);
      const next = lines.findIndex((line, index) => index > start && !line.startsWith('      '));
      const body = lines
        .slice(start, next)
        .map((line) => line.trim())
        .join(' ');
      assert.ok(body.includes(variable));
      if (fallback !== undefined) assert.ok(body.endsWith(`(default ${fallback})`), body);
    }
    for (const group of GROUPS) assert.ok(lines.includes(`${group}:`));
  });

  it('fits a terminal of 80 columns', () => {
    for (const line of lines) assert.ok(line.length <= 80, line);
  });

  it('holds no Markdown', () => {
    assert.ok(!formatHelp().includes('`'));
  });
});

describe('formatSettingsTable()', () => {
  const [header, rule, ...rows] = formatSettingsTable().split('\n');

  it('is a Markdown table of four columns with one row a setting', () => {
    assert.equal(header, '| Flag | Variable | Default | Meaning |');
    assert.equal(rule, '|-|-|-|-|');
    assert.equal(rows.length, SETTING_ROWS.length);
    for (const row of rows) assert.equal(row.split('|').length, 6, row);
  });

  it('shows flag, variable and default of each', () => {
    for (const [index, { flag, variable, fallback }] of SETTING_ROWS.entries()) {
      const row = rows[index] ?? '';
      assert.ok(row.startsWith(flag === undefined ? '| – |' : `| \`${flag} `), row);
      assert.ok(row.includes(`| \`${variable}\` | ${fallback === undefined ? '–' : `\`${fallback}\``} |`), row);
    }
  });
});
