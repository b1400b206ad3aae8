// 25 lives of a router that pushes are written to when it is killed, each of another length.

import { crash } from '../support/state-crashes.ts';

const LIVES = 25;
const LONGEST_MS = 3_000;
const SEED = 20_261_130;

export function stateCrashes(): Promise<string> {
  const random = randomFrom(SEED);
  return crash(Array.from({ length: LIVES }, () => random() * LONGEST_MS));
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
