// Check 8: the ledger of used token IDs, its bound and its floor.

import { type Mutant, mutantsOf } from '../mutant.ts';

const TESTS = ['test/redirect/ledger.test.ts', 'test/redirect/ledger-simulation.test.ts'];

const CHECKS: readonly Mutant[] = mutantsOf('src/redirect/ledger.ts', TESTS, {
  'a used token works again': ['isUsed || this.isFull', 'this.isFull'],
  'a full ledger takes tokens': ['isUsed || this.isFull', 'isUsed'],
  'the floor is skipped': ["if (second <= this.#floorSecond) return 'expired';", ''],
  'the floor lets its own second pass': ['second <= this.#floorSecond', 'second < this.#floorSecond'],
  'the floor follows the clock down': ['Math.max(this.#floorSecond, second)', 'second'],
  'the ledger may be over its bound by one': ['this.#size >= this.#maxLive', 'this.#size > this.#maxLive'],
  'the ledger may not reach its bound': ['this.#size >= this.#maxLive', 'this.#size + 1 >= this.#maxLive'],
  'the ledger holds one more': ['= 1_048_576', '= 1_048_577'],
  'a token ID is kept for a second less': ['KEPT_SECONDS = 60', 'KEPT_SECONDS = 59'],
  'a token ID is kept for a second more': ['KEPT_SECONDS = 60', 'KEPT_SECONDS = 61'],
  'a token ID is dropped as its token ends': ['second + KEPT_SECONDS >= nowSecond', 'second >= nowSecond'],
  'nothing is ever dropped': ['this.#dropEnded(secondOf(nowMs));', ''],
  'a mark is not checked': ['if (reason !== undefined) throw', 'if (false) throw'],
  'a token ID is not counted': ['this.#size += 1;', ''],
  'dropped token IDs stay counted': ['this.#size -= ids.size;', ''],
});

const IDS: readonly Mutant[] = mutantsOf('src/redirect/token-id-set.ts', ['test/redirect/token-id-set.test.ts'], {
  'the ID of only zeros is always there': ['? this.#hasZero :', '? true :'],
  'the ID of only zeros is never there': ['this.#hasZero = true;', 'this.#hasZero = false;'],
  'the last quarter of an ID does not count': [
    'index < WORDS; index += 1) if (one',
    'index < WORDS - 1; index += 1) if (one',
  ],
  'the first digit of a word does not count': ['let at = start;', 'let at = start + 1;'],
  'the ID before is asked for again': ['if (id !== this.#askedId)', "if (this.#askedId === '')"],
  'a table that grows loses its IDs': ['    this.#table = grown;', '    this.#table = new Uint32Array(grown.length);'],
  'two IDs share a slot': ['while (!isZero(table, slot) && !isSame', 'while (!isZero(table, slot) && false && !isSame'],
});

export const LEDGER: readonly Mutant[] = [...CHECKS, ...IDS];
