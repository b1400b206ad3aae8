// Figures by label values: each combination its own, and no more of them than the bound.

import { heapStats } from 'bun:jsc';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Series } from '../../src/telemetry/series.ts';

/** How many maps are in use in this process. */
function keptMaps(): number {
  Bun.gc(true);
  const { Map: maps = 0 } = heapStats().objectTypeCounts;
  return maps;
}

function counting(max?: number) {
  const series = new Series(['owner', 'model'], () => ({ count: 0 }), max);
  const add = (owner: string, model: string): void => {
    series.of([owner, model]).count += 1;
  };
  const counted = () => series.entries.map(({ labels, figures }) => [labels.owner, labels.model, figures.count]);
  return { add, counted };
}

describe('Series', () => {
  it('has the same figures for the same values, and others for any others', () => {
    const { add, counted } = counting();
    add('a', 'm');
    add('a', 'n');
    add('b', 'm');
    add('a', 'm');
    assert.deepEqual(counted(), [
      ['a', 'm', 2],
      ['a', 'n', 1],
      ['b', 'm', 1],
    ]);
  });

  it('takes no two combinations for one another, whatever their values hold', () => {
    const { add, counted } = counting();
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['a\0b', 'c'],
      ['a', 'b\0c'],
      ['', 'abc'],
      ['abc', ''],
      ['__proto__', 'constructor'],
    ] as const;
    for (const [owner, model] of pairs) add(owner, model);
    assert.deepEqual(
      counted(),
      pairs.map(([owner, model]) => [owner, model, 1]),
    );
  });

  it('counts what comes beyond the bound as other, while those within it go on', () => {
    const { add, counted } = counting(2);
    add('a', 'm');
    add('b', 'm');
    assert.deepEqual(counted().length, 2);
    add('c', 'm');
    add('a', 'n');
    add('b', 'm');
    assert.deepEqual(counted(), [
      ['a', 'm', 1],
      ['b', 'm', 2],
      ['other', 'other', 2],
    ]);
  });

  it('has one series for the rest, also where a name is that very word', () => {
    const { add, counted } = counting(2);
    add('other', 'other');
    add('b', 'm');
    add('c', 'm');
    add('other', 'other');
    assert.deepEqual(counted(), [
      ['other', 'other', 3],
      ['b', 'm', 1],
    ]);
  });

  it('keeps nothing of what comes beyond the bound', () => {
    const { add } = counting(1);
    add('a', 'm');
    const before = keptMaps();
    for (let index = 0; index < 10_000; index += 1) add(`owner ${index}`, 'm');
    assert.ok(keptMaps() - before < 1_000);
    add('a', 'm');
  });
});
