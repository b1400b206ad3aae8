// docs/performance.md, "Repeating it": what the commands around `make bench` say without measuring anything.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import type { RunResult } from '../../bench/result.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const FOLDER = mkdtempSync(join(tmpdir(), 'hivenet-router-bench-'));
after(() => rmSync(FOLDER, { recursive: true }));

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  return { status, stdout: stdout.trimEnd().split('\n'), stderr: stderr.trimEnd().split('\n') };
}

function written(name: string, content: string): string {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
}

function result(isQuick: boolean, values: Readonly<Record<string, number>>): string {
  const figures = Object.entries(values).map(([name, value]) => ({ title: 'T', name, value, unit: 'ms' }) as const);
  const found: RunResult = { date: '2026-01-02', machine: 'm-2', runtime: 'Bun/1', load: [0, 1], isQuick, figures };
  return JSON.stringify(found);
}

describe('make bench-compare', () => {
  const a = written('a.json', result(false, { both: 2, 'only A': 1 }));

  it('shows what either has, by how much it differs, and which run was quick', () => {
    const { status, stdout } = run('bench/compare.ts', a, written('b.json', result(true, { both: 3, 'only B': 4 })));
    assert.equal(status, 0);
    assert.deepEqual(
      stdout.map((line) => line.replaceAll(/ +/g, ' ')),
      [
        'A: Bun/1 · m-2 · 2026-01-02 · load 0 to 1',
        'B: Bun/1 · m-2 · 2026-01-02 · load 0 to 1 · quick',
        'T: both 2 ms 3 ms 50 %',
        'T: only A 1 ms –',
        'T: only B – 4 ms',
      ],
    );
  });

  for (const [what, path] of [
    ['a file that is not there', join(FOLDER, 'none.json')],
    ['broken JSON', written('broken.json', '{')],
    ['JSON without figures', written('other.json', '{"load":[0,1]}')],
  ] as const) {
    it(`tells ${what} in one line, with exit code 1`, () => {
      const { status, stderr } = run('bench/compare.ts', a, path);
      assert.equal(status, 1);
      assert.equal(stderr.length, 1);
      assert.ok(stderr.join().startsWith(`Cannot read the result "${path}": `), stderr.join());
    });
  }
});

describe('make bench ONLY=…', () => {
  it('tells a part that is in no file name in one line, with the names and exit code 1', () => {
    const { status, stderr } = run('bench/main.ts', '--quick', 'no-such-benchmark');
    assert.equal(status, 1);
    assert.equal(stderr.length, 1);
    assert.match(stderr.join(), /"no-such-benchmark".*bench\/hash\.bench\.ts/);
  });
});
