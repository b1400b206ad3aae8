import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Entered } from '../../src/admission/occupancy.ts';
import { door, footprint, reservationOf, settled, stateOf } from './door.ts';

const ONE = { replicas: 1, budgetTokens: 0, maxInflight: 1 };

function waiting(room = ONE) {
  const site = door(room);
  const wait = (promptTokens = 1) => {
    const guest: { entered: Entered | undefined; stop: () => void } = { entered: undefined, stop: () => undefined };
    const entry = { model: 'm', footprint: footprint(promptTokens), room: () => site.now.room };
    guest.stop = site.occupancy.awaitRoom(entry, (entered) => {
      guest.entered = entered;
    });
    return guest;
  };
  const held = () => site.occupancy.held().map(({ requests }) => requests);
  return { ...site, wait, held };
}

const reasonOf = ({ entered }: { readonly entered: Entered | undefined }) => entered?.ok === false && entered.fault;

describe('Occupancy.awaitRoom()', () => {
  it('answers in the same turn where there is room, and where there never will be', () => {
    const { wait, held } = waiting({ replicas: 1, budgetTokens: 10, maxInflight: 0 });
    assert.equal(wait(10).entered?.ok, true);
    assert.equal(reasonOf(waiting({ replicas: 1, budgetTokens: 10, maxInflight: 0 }).wait(11)), 'never');
    assert.deepEqual(held(), [1]);
  });

  it('waits for as long as it takes, in one line with those who park', async () => {
    const { wait, enter, timers } = waiting();
    const running = enter(footprint(1));
    await settled();
    const [first, parked, second] = [wait(), enter(footprint(1)), wait()];
    timers.advance(10_000);
    await settled();
    assert.deepEqual([first.entered, stateOf(parked), second.entered], [undefined, 'full', undefined]);
    const later = enter(footprint(1));
    reservationOf(running).release();
    await settled();
    assert.deepEqual([first.entered?.ok, second.entered, stateOf(later)], [true, undefined, 'waits']);
    reservationOf(first).release();
    assert.equal(second.entered?.ok, true);
  });

  it('ends without an answer when it is stopped, and lets those behind go on', async () => {
    const { wait, enter, held } = waiting({ replicas: 1, budgetTokens: 10, maxInflight: 0 });
    const running = enter(footprint(4));
    await settled();
    const [large, small] = [wait(8), wait(4)];
    assert.deepEqual([large.entered, small.entered], [undefined, undefined]);
    large.stop();
    large.stop();
    assert.deepEqual([large.entered, small.entered?.ok], [undefined, true]);
    small.stop();
    assert.deepEqual(held(), [2], 'what was given is its own to give back');
    reservationOf(running).release();
    reservationOf(small).release();
    assert.deepEqual(held(), []);
  });

  it('is told when the router ends, before and while it waits', async () => {
    const { wait, enter, occupancy } = waiting();
    enter(footprint(1));
    await settled();
    const before = wait();
    occupancy.close();
    assert.deepEqual([reasonOf(before), reasonOf(wait())], ['closed', 'closed']);
  });
});
