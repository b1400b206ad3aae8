import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayPredateStart } from '../../src/redirect/restart.ts';

const STARTED_MS = 1_800_000_000_000;

describe('mayPredateStart()', () => {
  for (const [name, issuedMs, startedMs, is] of [
    ['a token issued before the start', STARTED_MS - 1, STARTED_MS, true],
    ['one issued 4.999 s after it, by a clock that may be ahead', STARTED_MS + 4_999, STARTED_MS, true],
    ['not one issued 5 s after it', STARTED_MS + 5_000, STARTED_MS, false],
    ['nothing on a router that restored nothing', 0, undefined, false],
  ] as const) {
    it(`takes in ${name} (A15)`, () => assert.equal(mayPredateStart(issuedMs, startedMs), is));
  }
});
