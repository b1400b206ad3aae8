// One door and those who come to it, with time and agents in the test's hand.

import { type Entered, Occupancy } from '../../src/admission/occupancy.ts';
import type { Footprint, PoolRoom, Reservation } from '../../src/admission/pool.ts';
import { FakeTimers } from '../agents/fake-timers.ts';

export interface Guest {
  readonly footprint: Footprint;
  readonly client: AbortController;
  /** Undefined: waits. */
  entered: Entered | undefined;
}

export interface DoorSettings {
  readonly fraction?: number;
  readonly parkMs?: number;
}

export function footprint(promptTokens: number, more: Partial<Footprint> = {}): Footprint {
  return { keyId: 'k', promptTokens, declaredOutputTokens: 0, share: 0, ...more };
}

/** `room` may be changed at any time, as agents and policies do. */
export function door(room: PoolRoom, { fraction = 1, parkMs = 250 }: DoorSettings = {}) {
  const timers = new FakeTimers();
  const occupancy = new Occupancy({ fraction, parkMs, after: (delayMs, run) => timers.after(delayMs, run) });
  const now = { room };
  const guests: Guest[] = [];
  const enter = (wanted: Footprint, model = 'm'): Guest => {
    const guest: Guest = { footprint: wanted, client: new AbortController(), entered: undefined };
    guests.push(guest);
    const entry = { model, footprint: wanted, room: () => now.room, clientGone: guest.client.signal };
    void occupancy.enter(entry).then((entered) => {
      guest.entered = entered;
    });
    return guest;
  };
  return { occupancy, timers, now, guests, enter };
}

/** `in`, `waits`, or why not. */
export function stateOf({ entered }: Guest): string {
  if (entered === undefined) return 'waits';
  return entered.ok ? 'in' : entered.fault;
}

export function reservationOf({ entered }: Pick<Guest, 'entered'>): Reservation {
  if (entered?.ok !== true) throw new Error('This guest is not in');
  return entered.value;
}

/** Lets what has been promised arrive. */
export async function settled(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await Promise.resolve();
}
