import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivesUnderWay } from '../../src/dispatch/lives-under-way.ts';

/** Lives that are over once they are cut, and what each was told. */
function lives(count: number) {
  const grace = new AbortController();
  const underWay = new LivesUnderWay(grace.signal);
  const told: string[] = [];
  const born = Array.from({ length: count }, (_, index) => {
    const life = {
      cutShort: (cut: string) => {
        told.push(`${index} ${cut}`);
        underWay.delete(life);
      },
    };
    underWay.add(life);
    return life;
  });
  return { grace, underWay, told, born };
}

describe('LivesUnderWay', () => {
  it('cuts all that are under way when the grace is over, each once, and none that has ended', () => {
    const { grace, underWay, told, born } = lives(4);
    const [, second] = born;
    assert.ok(second);
    underWay.delete(second);
    assert.equal(underWay.count, 3);
    grace.abort();
    assert.deepEqual(told, ['0 shutdown', '2 shutdown', '3 shutdown']);
    assert.equal(underWay.count, 0);
  });

  it('cuts one that comes later at once', () => {
    const { grace, underWay, told } = lives(0);
    grace.abort();
    underWay.add({ cutShort: (cut) => void told.push(cut) });
    assert.deepEqual(told, ['shutdown']);
  });
});
