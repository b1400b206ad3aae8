// A set of token IDs in 16 bytes each: as strings in a `Set` a million of them take 300 MiB. Apart from ledger.ts, which
// decides how long they are remembered.

const WORDS = 4;
const WORD_DIGITS = 8;
const FIRST_SLOTS = 16;
/** Above this share of used slots the table doubles, so that a free one is always near. */
const FULL_SHARE = 0.75;

/**
 * IDs of 32 lower-case hex digits, of which none is ever taken out: an open-addressed table with linear probing. They are
 * random, so they are their own hashes; whoever could choose them has a secret of the fleet. Doubling a table of 10,000
 * takes a fifth of a millisecond.
 */
export class TokenIdSet {
  /** An ID in four words a slot; all 0 in a free one. */
  #table = new Uint32Array(WORDS * FIRST_SLOTS);
  /** The ID of only zeros looks like a free slot. */
  #hasZero = false;
  #size = 0;
  /** The words of the ID that was looked for last: a mark comes right after the check of the same one. */
  readonly #asked = new Uint32Array(WORDS);
  #askedId = '';

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    return this.#ask(id) ? this.#hasZero : this.#isTaken(this.#slotOf(this.#table, this.#asked));
  }

  /** Adds an ID that it does not have yet. */
  add(id: string): void {
    if (this.#ask(id)) this.#hasZero = true;
    else copy(this.#asked, 0, this.#table, this.#slotOf(this.#table, this.#asked));
    this.#size += 1;
    if (WORDS * this.#size > FULL_SHARE * this.#table.length) this.#grow();
  }

  /** Reads the words of `id`; whether all are 0. */
  #ask(id: string): boolean {
    const asked = this.#asked;
    if (id !== this.#askedId) {
      for (let index = 0; index < WORDS; index += 1) asked[index] = parseWord(id, index * WORD_DIGITS);
      this.#askedId = id;
    }
    return isZero(asked, 0);
  }

  /** Where the ID stands, or the free slot where it would. */
  #slotOf(table: Uint32Array, id: Uint32Array, at = 0): number {
    const last = table.length - WORDS;
    const mixed = word(id, at) ^ word(id, at + 1) ^ word(id, at + 2) ^ word(id, at + 3);
    let slot = (WORDS * mixed) & last;
    while (!isZero(table, slot) && !isSame(table, slot, id, at)) slot = (slot + WORDS) & last;
    return slot;
  }

  #isTaken(slot: number): boolean {
    return !isZero(this.#table, slot);
  }

  #grow(): void {
    const grown = new Uint32Array(2 * this.#table.length);
    for (let slot = 0; slot < this.#table.length; slot += WORDS) {
      if (this.#isTaken(slot)) copy(this.#table, slot, grown, this.#slotOf(grown, this.#table, slot));
    }
    this.#table = grown;
  }
}

function word(words: Uint32Array, at: number): number {
  return words[at] ?? 0;
}

function isZero(words: Uint32Array, at: number): boolean {
  return (word(words, at) | word(words, at + 1) | word(words, at + 2) | word(words, at + 3)) === 0;
}

function isSame(one: Uint32Array, oneAt: number, other: Uint32Array, otherAt: number): boolean {
  for (let index = 0; index < WORDS; index += 1) if (one[oneAt + index] !== other[otherAt + index]) return false;
  return true;
}

function copy(from: Uint32Array, fromAt: number, to: Uint32Array, toAt: number): void {
  for (let index = 0; index < WORDS; index += 1) to[toAt + index] = word(from, fromAt + index);
}

/** Eight lower-case hex digits as a number. */
function parseWord(id: string, start: number): number {
  let value = 0;
  for (let at = start; at < start + WORD_DIGITS; at += 1) {
    const code = id.charCodeAt(at);
    value = (value << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return value;
}
