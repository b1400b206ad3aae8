import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tellFaults } from '../../src/lib/tell-faults.ts';

const told = (count: number) =>
  tellFaults(
    Array.from({ length: count }, (_, index) => index + 1),
    (fault) => `fault ${fault}`,
  );

describe('tellFaults()', () => {
  it('tells 20 faults one by one, and of more how many they are', () => {
    assert.deepEqual(told(2), ['fault 1', 'fault 2']);
    assert.deepEqual(told(20).slice(18), ['fault 19', 'fault 20']);
    assert.deepEqual(told(22).slice(19), ['fault 20', 'and 2 more']);
  });
});
