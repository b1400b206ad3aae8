import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { TokenIdSet } from '../../src/redirect/token-id-set.ts';
import { tokenId } from './builders.ts';

const ZERO = '0'.repeat(32);

function filled(ids: Iterable<string>): TokenIdSet {
  const set = new TokenIdSet();
  for (const id of ids) if (!set.has(id)) set.add(id);
  return set;
}

describe('TokenIdSet', () => {
  it('has what was added, and nothing else, also the ID of only zeros', () => {
    const set = new TokenIdSet();
    for (const id of [ZERO, 'f'.repeat(32), '0123456789abcdef0123456789abcdef']) {
      assert.equal(set.has(id), false, id);
      set.add(id);
      assert.equal(set.has(id), true, id);
    }
    assert.equal(set.has(`${'f'.repeat(31)}e`), false);
    assert.equal(set.size, 3);
  });

  it('tells IDs apart that differ in one digit, wherever that is', () => {
    const id = '5'.repeat(32);
    const set = filled([id]);
    for (let at = 0; at < 32; at += 1) {
      for (const digit of '0123467f') {
        const other = id.slice(0, at) + digit + id.slice(at + 1);
        assert.equal(set.has(other), false, other);
      }
    }
  });

  it('keeps apart IDs that belong into one slot', () => {
    const words = ['00000001', '00000010', '00000100', '00001000'];
    const ids = words.map((_, turn) => [...words.slice(turn), ...words.slice(0, turn)].join(''));
    const set = filled(ids.slice(0, 3));
    assert.deepEqual(
      ids.map((id) => set.has(id)),
      [true, true, true, false],
    );
  });

  it('keeps all IDs as it grows to 100,000', () => {
    const set = filled(Array.from({ length: 100_000 }, (_, number) => tokenId(number)));
    assert.equal(set.size, 100_000);
    for (let number = 0; number < 100_000; number += 1) assert.ok(set.has(tokenId(number)), String(number));
    for (let number = 100_000; number < 101_000; number += 1) assert.ok(!set.has(tokenId(number)), String(number));
  });

  const id = fc.stringMatching(/^[0-9a-f]{32}$/);
  it('agrees with a set of strings', () =>
    fc.assert(
      fc.property(fc.array(id, { maxLength: 200 }), fc.array(id, { maxLength: 20 }), (added, asked) => {
        const [ours, theirs] = [filled(added), new Set(added)];
        assert.equal(ours.size, theirs.size);
        for (const one of [...added, ...asked]) assert.equal(ours.has(one), theirs.has(one));
      }),
    ));
});
