import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turns } from '../../src/http/turns.ts';
import type { Steps } from '../../src/lib/steps.ts';

/** A clock that a test sets. */
const clock = () => ({ ms: 1_000 });

function* countTo(end: number, work: () => void): Steps<number> {
  for (let count = 0; count < end; count += 1) {
    work();
    yield;
  }
  return end;
}

/** Turns of the event loop until `done`. */
async function turnsUntil(done: Promise<unknown>): Promise<number> {
  let isDone = false;
  const ended = done.finally(() => {
    isDone = true;
  });
  let turns = 0;
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    turns += 1;
  }
  await ended;
  return turns;
}

describe('Turns', () => {
  it('gives the outcome of all steps, however many turns they take (R-163)', async () => {
    const time = clock();
    const turns = new Turns(() => time.ms);
    assert.equal(await turns.complete(countTo(0, () => undefined)), 0);
    const work = () => {
      time.ms += 3;
    };
    assert.equal(await turns.complete(countTo(50, work)), 50);
  });

  it('lets the event loop turn after each 5 ms of work', async () => {
    const time = clock();
    const turns = new Turns(() => time.ms);
    const work = () => {
      time.ms += 2;
    };
    const turned = await turnsUntil(Promise.resolve(turns.complete(countTo(60, work))));
    assert.ok(turned >= 15, `${turned} turns for 120 ms of work`);
  });

  it('gives one turn of the loop to one task, in the order of their coming', async () => {
    const time = clock();
    const turns = new Turns(() => time.ms);
    const order: string[] = [];
    const task = (name: string) =>
      turns.complete(
        countTo(3, () => {
          order.push(name);
          time.ms += 5;
        }),
      );
    const turned = await turnsUntil(Promise.all([task('a'), task('b'), task('c')]));
    assert.equal(order.join(''), 'abcabcabc');
    assert.ok(turned >= 6, `${turned} turns for 9 pieces of work`);
  });

  it('ends with what a step throws', async () => {
    const turns = new Turns(() => 0);
    const failing = (): void => {
      throw new Error('a bug');
    };
    await assert.rejects(async () => turns.complete(countTo(1, failing)), /a bug/);
    assert.equal(await turns.complete(countTo(1, () => undefined)), 1);
  });
});
