import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type AliasFacts, resolveAlias } from '../../src/routing/alias.ts';
import { AliasStore } from '../../src/routing/alias-store.ts';

/** Facts as lists of models. */
function facts(usable: string, served = '', placed = ''): AliasFacts {
  return {
    mayUse: (model) => usable.includes(model),
    isServedHere: (model) => served.includes(model),
    isPlaced: (model) => placed.includes(model),
  };
}

describe('resolveAlias()', () => {
  const cases: readonly (readonly [string, AliasFacts, string | undefined])[] = [
    ['the first that is served here', facts('abc', 'bc'), 'b'],
    ['one that is served here, though an earlier one is placed', facts('abc', 'c', 'a'), 'c'],
    ['the first that is placed, when none is served here', facts('abc', '', 'bc'), 'b'],
    ['the first, when none is served or placed', facts('abc'), 'a'],
    ['none that the key may not use, though it is served here', facts('bc', 'ac', 'ab'), 'c'],
    ['none that the key may not use, though it is placed', facts('bc', '', 'ac'), 'c'],
    ['the first that the key may use, when nothing is known of it', facts('bc'), 'b'],
    ['nothing, when the key may use none', facts('', 'abc', 'abc'), undefined],
  ];
  for (const [what, given, model] of cases) {
    it(`takes ${what}`, () => assert.equal(resolveAlias(['a', 'b', 'c'], given), model));
  }

  it('follows the order of the operator', () => {
    assert.equal(resolveAlias(['c', 'b', 'a'], facts('abc', 'ab')), 'b');
    assert.equal(resolveAlias(['c', 'b', 'a'], facts('abc', '', 'ab')), 'b');
    assert.equal(resolveAlias(['c', 'b', 'a'], facts('abc')), 'c');
  });

  it('never names a model that is not listed, or that the key may not use', () => {
    const letters = fc.subarray(['a', 'b', 'c', 'd']).map((models) => models.join(''));
    const lists = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'), { minLength: 1 });
    return fc.assert(
      fc.property(lists, letters, letters, letters, (models, usable, served, placed) => {
        const model = resolveAlias(models, facts(usable, served, placed));
        assert.equal(
          model !== undefined,
          models.some((listed) => usable.includes(listed)),
        );
        assert.ok(model === undefined || (models.includes(model) && usable.includes(model)));
      }),
    );
  });
});

describe('AliasStore', () => {
  it('holds no aliases at first', () => assert.equal(new AliasStore().current().size, 0));

  it('replaces the table whole', () => {
    const store = new AliasStore(new Map([['a', ['m']]]));
    const next = new Map([['b', ['n']]]);
    store.replace(next);
    assert.equal(store.current(), next);
  });

  it('knows a hidden alias as news once a table', () => {
    const store = new AliasStore(new Map([['a', ['m']]]));
    assert.deepEqual([store.noteHidden('a'), store.noteHidden('a'), store.noteHidden('b')], [true, false, true]);
    store.replace(store.current());
    assert.deepEqual([store.noteHidden('a'), store.noteHidden('a')], [true, false]);
  });
});
