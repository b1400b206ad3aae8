import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../support/child-process.ts';
import { choices } from './choices.ts';

const SCRIPT = fileURLToPath(new URL('choices.ts', import.meta.url));
const DENO = fileURLToPath(new URL('../../node_modules/.bin/deno', import.meta.url));

describe('The choice of a site', () => {
  it('is the same in every process and on both runtimes, in whatever order a map lists its parts (R-044)', async () => {
    const here = choices(0);
    assert.ok(new Set(here).size > 10, [...new Set(here)].join(' '));
    for (const command of [[process.execPath], [DENO, 'run', '--quiet', '--no-check']]) {
      const { code, stdout, stderr } = await run([...command, SCRIPT, '17']);
      assert.deepEqual([code, stderr], [0, []]);
      assert.deepEqual(stdout, here);
    }
  });
});
