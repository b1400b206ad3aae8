import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { PARKED_MAX } from '../../src/admission/occupancy.ts';
import { door, footprint, reservationOf, settled, stateOf } from './door.ts';

const ROOM = { replicas: 1, budgetTokens: 100, maxInflight: 0 };

describe('Occupancy', () => {
  it('lets in what fits, without a timer, and holds it in the same turn', async () => {
    const { enter, occupancy, timers } = door(ROOM);
    const guest = enter(footprint(60));
    assert.deepEqual(occupancy.held(), [{ model: 'm', tokens: 60, requests: 1 }]);
    await settled();
    assert.deepEqual([stateOf(guest), timers.pending], ['in', 0]);
    reservationOf(guest).release();
    assert.deepEqual(occupancy.held(), []);
  });

  it('parks who does not fit, first come, first served, also past one who would', async () => {
    const { enter } = door(ROOM);
    const [running, large, small] = [enter(footprint(60)), enter(footprint(80)), enter(footprint(10))];
    await settled();
    assert.deepEqual([running, large, small].map(stateOf), ['in', 'waits', 'waits']);
    reservationOf(running).release();
    await settled();
    assert.deepEqual([large, small].map(stateOf), ['in', 'in']);
  });

  it('lets nobody get between the freeing of room and its taking', async () => {
    const { enter, occupancy } = door(ROOM);
    const [running, waiting] = [enter(footprint(100)), enter(footprint(100))];
    await settled();
    reservationOf(running).release();
    assert.equal(occupancy.held()[0]?.tokens, 100);
    const late = enter(footprint(1));
    await settled();
    assert.deepEqual([waiting, late].map(stateOf), ['in', 'waits']);
  });

  it('waits for 250 ms and not for 249', async () => {
    const { enter, timers } = door(ROOM);
    enter(footprint(100));
    const guest = enter(footprint(1));
    timers.advance(249);
    await settled();
    assert.equal(stateOf(guest), 'waits');
    timers.advance(1);
    await settled();
    assert.equal(stateOf(guest), 'full');
  });

  it('lets in those behind one who gives up, by time or by leaving', async () => {
    for (const isLeaving of [false, true]) {
      const { enter, timers } = door(ROOM);
      enter(footprint(60));
      const large = enter(footprint(80));
      timers.advance(100);
      const small = enter(footprint(40));
      if (isLeaving) large.client.abort();
      else timers.advance(150);
      await settled();
      assert.deepEqual([large, small].map(stateOf), [isLeaving ? 'client_gone' : 'full', 'in']);
    }
  });

  it('keeps nothing of a client that leaves while it waits', async () => {
    const { enter, timers, occupancy } = door(ROOM);
    const running = enter(footprint(100));
    const guest = enter(footprint(50));
    await settled();
    guest.client.abort();
    await settled();
    assert.equal(stateOf(guest), 'client_gone');
    assert.deepEqual([timers.pending, getEventListeners(guest.client.signal, 'abort').length], [0, 0]);
    reservationOf(running).release();
    assert.deepEqual(occupancy.held(), []);
  });

  it('holds nothing for a client that has left already', async () => {
    const { enter, occupancy } = door(ROOM);
    const guest = enter(footprint(1));
    await settled();
    reservationOf(guest).release();
    const client = AbortSignal.abort();
    const entered = await occupancy.enter({
      model: 'm',
      footprint: footprint(1),
      room: () => ROOM,
      clientGone: client,
    });
    assert.deepEqual([entered.ok, occupancy.held()], [false, []]);
  });

  it('refuses at once what is larger than the whole budget, what is beyond a share, and with a park time of 0', async () => {
    const at = door(ROOM);
    at.enter(footprint(60));
    const refused = [at.enter(footprint(101)), at.enter(footprint(1, { share: 0.5 }))];
    const hurried = door(ROOM, { parkMs: 0 });
    hurried.enter(footprint(100));
    refused.push(hurried.enter(footprint(1)));
    await settled();
    assert.deepEqual(refused.map(stateOf), ['never', 'share', 'full']);
    assert.deepEqual([at.timers.pending, hurried.timers.pending], [0, 0]);
  });

  it('judges a share when room comes free, not when the request came', async () => {
    const { enter } = door(ROOM);
    const other = enter(footprint(60, { keyId: 'other' }));
    const [first, second] = [30, 30].map((tokens) => enter(footprint(tokens, { share: 0.5 })));
    const third = enter(footprint(15, { share: 0.5 }));
    await settled();
    assert.deepEqual(
      [first, second, third].map((guest) => guest && stateOf(guest)),
      ['in', 'waits', 'waits'],
    );
    reservationOf(other).release();
    await settled();
    assert.deepEqual(
      [second, third].map((guest) => guest && stateOf(guest)),
      ['share', 'in'],
    );
  });

  it('wakes those who wait when a reservation shrinks', async () => {
    const { enter } = door(ROOM);
    const running = enter(footprint(100));
    const guest = enter(footprint(20));
    await settled();
    reservationOf(running).correct(80);
    await settled();
    assert.equal(stateOf(guest), 'in');
  });

  it('looks again when it is told that room may have grown, and at the latest when a wait ends', async () => {
    for (const isTold of [true, false]) {
      const { enter, occupancy, timers, now } = door(ROOM);
      enter(footprint(100));
      const guest = enter(footprint(100));
      now.room = { ...ROOM, replicas: 2 };
      if (isTold) occupancy.roomMayHaveGrown();
      else timers.advance(250);
      await settled();
      assert.equal(stateOf(guest), 'in');
    }
  });

  it('answers at once who no longer fits at all, since agents have gone', async () => {
    const { enter, occupancy, now } = door({ ...ROOM, replicas: 2 });
    enter(footprint(100));
    const guest = enter(footprint(150));
    now.room = ROOM;
    occupancy.roomMayHaveGrown();
    await settled();
    assert.equal(stateOf(guest), 'never');
  });

  it('keeps the models apart', async () => {
    const { enter, occupancy } = door(ROOM);
    enter(footprint(100));
    const other = enter(footprint(100), 'n');
    await settled();
    assert.equal(stateOf(other), 'in');
    assert.equal(occupancy.held().length, 2);
  });

  it('parks so many for a model and refuses one more', async () => {
    const { enter, guests } = door(ROOM);
    for (let count = 0; count <= PARKED_MAX; count += 1) enter(footprint(100));
    const oneMore = enter(footprint(1));
    await settled();
    assert.equal(guests.filter((guest) => stateOf(guest) === 'waits').length, PARKED_MAX);
    assert.equal(stateOf(oneMore), 'full');
  });
});
