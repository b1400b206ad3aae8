// That no mutant rots: each still applies to the sources as they are, and breaks no more than what it says.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Edit, mutate, swapsOf } from './mutant.ts';
import { MUTANTS } from './suite.ts';

describe('the mutants', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  for (const { file, breaks, edits, tests } of MUTANTS) {
    it(`${file}: ${breaks}`, () => {
      const mutated = mutate(readFileSync(file, 'utf8'), edits);
      assert.ok(mutated.ok, mutated.ok ? '' : mutated.fault);
      // What does not parse would die of that, and prove nothing.
      assert.doesNotThrow(() => transpiler.transformSync(mutated.value));
      for (const test of tests) assert.ok(existsSync(test), test);
    });
  }

  it('are each named once', () => {
    const names = MUTANTS.map(({ file, breaks }) => `${file}: ${breaks}`);
    assert.equal(new Set(names).size, names.length);
  });
});

describe('mutate()', () => {
  const cases: readonly (readonly [what: string, edits: readonly Edit[], result: string])[] = [
    ['replaces a text', [['b', 'x']], 'axc c'],
    [
      'lets two texts change places',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      'bac c',
    ],
    ['takes $& as it stands', [['b', '$&']], 'a$&c c'],
    ['refuses a text that is not there', [['d', 'x']], 'not found: d'],
    ['refuses a text that is there twice', [['c', 'x']], 'found more than once: c'],
    ['refuses a change that is none', [['b', 'b']], 'changes nothing'],
  ];
  for (const [what, edits, result] of cases) {
    it(what, () => {
      const mutated = mutate('abc c', edits);
      assert.equal(mutated.ok ? mutated.value : mutated.fault, result);
    });
  }
});

describe('swapsOf()', () => {
  it('makes a mutant of each two texts, but of those that no input tells apart', () => {
    const swaps = swapsOf('src/a.ts', [], { a: '1', b: '2', c: '3' }, ['a and c']);
    assert.deepEqual(
      swaps.map(({ breaks }) => breaks),
      ['a and b change places', 'b and c change places'],
    );
    assert.deepEqual(swaps[0]?.edits, [
      ['1', '2'],
      ['2', '1'],
    ]);
  });
});
