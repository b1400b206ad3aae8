// The vectors are what their scripts make: node:crypto is the judge of the router's hashes and signatures, and a vector
// that was edited by hand would judge nothing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../support/child-process.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe('the vectors', () => {
  for (const name of ['token', 'home-set']) {
    it(`${name}.json is what make-${name}.mjs prints, and the script uses none of our code (4.5, 4.6, 5.4)`, async () => {
      const script = pathOf(`make-${name}.mjs`);
      const imports = [...readFileSync(script, 'utf8').matchAll(/^import .* from '(.*)';$/gm)].map(([, from]) => from);
      assert.deepEqual(imports, ['node:crypto']);
      const { code, stdout, stderr } = await run([process.execPath, script]);
      assert.deepEqual([code, stderr], [0, []]);
      assert.deepEqual(
        stdout,
        readFileSync(pathOf(`${name}.json`), 'utf8')
          .trimEnd()
          .split('\n'),
      );
    });
  }
});
