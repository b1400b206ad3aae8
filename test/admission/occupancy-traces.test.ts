import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { PoolRoom } from '../../src/admission/pool.ts';
import { door, footprint, type Guest, reservationOf, settled, stateOf } from './door.ts';

const FRACTION = 0.9;
const PARK_MS = 250;

const nat = fc.nat(60);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('enter' as const),
      prompt: nat,
      declared: fc.constantFrom(0, 0, 20),
      key: fc.constantFrom('a', 'b'),
      share: fc.constantFrom(0, 0.4),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'leave' as const), who: nat }) },
  fc.record({ do: fc.constantFrom('grow' as const, 'correct' as const), who: nat, tokens: nat }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 100, 250) }),
  fc.record({ do: fc.constant('agents' as const), replicas: fc.nat(3) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** The same book kept by hand: what each guest holds by the rules of api.md §14. */
class Book {
  readonly #lines = new Map<
    Guest,
    { key: string; weight: number; prompt: number; grown: number; isDeclared: boolean }
  >();

  open(guest: Guest): void {
    const { keyId: key, promptTokens: prompt, declaredOutputTokens: declared } = guest.footprint;
    this.#lines.set(guest, { key, weight: prompt + declared, prompt, grown: 0, isDeclared: declared > 0 });
  }

  close(guest: Guest): void {
    this.#lines.delete(guest);
  }

  grow(guest: Guest, tokens: number): void {
    const line = this.#lines.get(guest);
    if (line === undefined || line.isDeclared || tokens <= line.grown) return;
    line.weight += tokens - line.grown;
    line.grown = tokens;
  }

  correct(guest: Guest, tokens: number): void {
    const line = this.#lines.get(guest);
    if (line === undefined) return;
    line.weight = Math.max(0, line.weight + tokens - line.prompt);
    line.prompt = tokens;
  }

  has(guest: Guest): boolean {
    return this.#lines.has(guest);
  }

  get requests(): number {
    return this.#lines.size;
  }

  tokens(key?: string): number {
    return [...this.#lines.values()].reduce(
      (sum, line) => sum + (key === undefined || line.key === key ? line.weight : 0),
      0,
    );
  }

  /** Whether one more may come in now. */
  hasRoomFor({ footprint: wanted }: Guest, room: PoolRoom): boolean {
    const replicas = Math.max(1, room.replicas);
    const weight = wanted.promptTokens + wanted.declaredOutputTokens;
    const share = Math.floor(wanted.share * room.budgetTokens * replicas);
    return (
      this.tokens() + weight <= Math.max(1, Math.floor(FRACTION * room.budgetTokens * replicas)) &&
      this.requests + 1 <= room.maxInflight * replicas &&
      (share === 0 || this.tokens(wanted.keyId) + weight <= share)
    );
  }
}

function play(site: ReturnType<typeof door>, book: Book, action: Step): void {
  const { guests, enter, timers, now, occupancy } = site;
  const inside = guests.filter((guest) => book.has(guest));
  const waiting = guests.filter((guest) => stateOf(guest) === 'waits');
  switch (action.do) {
    case 'enter': {
      const { prompt, declared: declaredOutputTokens, key: keyId, share } = action;
      enter(footprint(prompt, { declaredOutputTokens, keyId, share }));
      return;
    }
    case 'leave':
      waiting[action.who % Math.max(1, waiting.length)]?.client.abort();
      return;
    case 'wait':
      timers.advance(action.ms);
      return;
    case 'agents':
      now.room = { ...now.room, replicas: action.replicas };
      occupancy.roomMayHaveGrown();
      return;
    default: {
      const guest = inside[action.who % Math.max(1, inside.length)];
      if (guest !== undefined) change(book, guest, action);
    }
  }
}

function change(book: Book, guest: Guest, action: Exclude<Step, { do: 'enter' | 'wait' | 'agents' }>): void {
  const reservation = reservationOf(guest);
  if (action.do === 'grow') {
    reservation.grow(action.tokens);
    book.grow(guest, action.tokens);
  } else if (action.do === 'correct') {
    reservation.correct(action.tokens);
    book.correct(guest, action.tokens);
  } else {
    reservation.release();
    reservation.release();
    book.close(guest);
  }
}

/** Whoever came in since the last step came in the order of arrival, and there was room for each, one by one. */
function enterInBook(site: ReturnType<typeof door>, book: Book, known: Set<Guest>): void {
  for (const guest of site.guests) {
    if (stateOf(guest) !== 'in' || known.has(guest)) continue;
    assert.ok(book.hasRoomFor(guest, site.now.room), 'there was room');
    const earlier = site.guests.slice(0, site.guests.indexOf(guest));
    assert.ok(
      earlier.every((other) => stateOf(other) !== 'waits'),
      'nobody waits who came before',
    );
    known.add(guest);
    book.open(guest);
  }
}

describe('Occupancy over random traces', () => {
  it('never exceeds budget, count or share, keeps the order, loses no wake-up and gives everything back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (trace) => {
        const site = door({ replicas: 1, budgetTokens: 100, maxInflight: 4 }, { fraction: FRACTION, parkMs: PARK_MS });
        const book = new Book();
        const known = new Set<Guest>();
        for (const action of trace) {
          play(site, book, action);
          await settled();
          enterInBook(site, book, known);
          const [held = { tokens: 0, requests: 0 }] = site.occupancy.held();
          assert.deepEqual([held.tokens, held.requests], [book.tokens(), book.requests]);
          const first = site.guests.find((guest) => stateOf(guest) === 'waits');
          assert.ok(first === undefined || !book.hasRoomFor(first, site.now.room), 'whoever is first could not go in');
        }
        site.timers.advance(PARK_MS);
        await settled();
        enterInBook(site, book, known);
        for (const guest of site.guests) if (guest.entered?.ok) guest.entered.value.release();
        assert.deepEqual([site.occupancy.held(), site.timers.pending], [[], 0]);
        assert.ok(site.guests.every((guest) => stateOf(guest) !== 'waits'));
      }),
      { numRuns: 500 },
    );
  });
});
