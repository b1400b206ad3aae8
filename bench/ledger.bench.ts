// The ledger of used token IDs as it fills: a mark among none and among a million, the memory of a million, and the pause
// when they expire. IDs come in over a minute, as they do: tokens live that long.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RedirectClaims } from '../src/redirect/claims.ts';
import { UsedTokenLedger } from '../src/redirect/ledger.ts';
import { claims, NOW_MS } from '../test/redirect/builders.ts';
import { type Figure, tell } from './figure.ts';
import { median, ns } from './report.ts';

const MILLION = 1_000_000;
/** Seconds over which the live tokens were issued. */
const SPREAD_S = 60;
/** So few in a round that a thousand entries stay about a thousand. */
const MARKS = 100;
const ROUNDS = 60;
/** Ledgers of up to so many entries are made anew for each round; a larger one grows by a sixteenth at most. */
const SMALL = 1_000;
const MIB = 1_048_576;

function fresh(number: number): RedirectClaims {
  const issuedMs = NOW_MS + (number % SPREAD_S) * 1_000;
  return claims({ tokenId: randomBytes(16).toString('hex'), issuedMs });
}

const SPARE = Array.from({ length: MARKS * ROUNDS }, (_, index) => fresh(index));

function filled(count: number): UsedTokenLedger {
  const ledger = new UsedTokenLedger(2 * MILLION);
  for (let number = 0; number < count; number += 1) ledger.markUsed(fresh(number), NOW_MS);
  assert.equal(ledger.size, count);
  return ledger;
}

/** A token is taken once, among so many live ones: without that, times say nothing. */
function assertMarks(count: number): void {
  const [ledger, token] = [filled(count), fresh(0)];
  assert.equal(ledger.check(token, NOW_MS), undefined);
  ledger.markUsed(token, NOW_MS);
  assert.equal(ledger.check(token, NOW_MS), 'replay');
  assert.equal(ledger.size, count + 1);
}

/** Median ns of a check and the mark among `count` live entries, of tokens that nobody has used. */
function markNs(count: number): number {
  assertMarks(count);
  let ledger = filled(count);
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    if (count <= SMALL) ledger = filled(count);
    const tokens = SPARE.slice(round * MARKS, (round + 1) * MARKS);
    const startedMs = performance.now();
    for (const token of tokens) if (ledger.check(token, NOW_MS) === undefined) ledger.markUsed(token, NOW_MS);
    return ((performance.now() - startedMs) * 1e6) / MARKS;
  });
  return median(rounds);
}

function marking(): readonly Figure[] {
  markNs(SMALL); // the compiler's turn
  const [none, thousand, hundredThousand, million] = [0, SMALL, 100_000, MILLION].map(markNs);
  const told = (name: string, value = Number.NaN): Figure => ({ name, value, unit: 'ns' });
  return [
    told(`check and mark, the first ${MARKS} of an empty ledger`, none),
    told('check and mark, 1,000 live entries', thousand),
    told('check and mark, 100,000 live entries', hundredThousand),
    {
      name: 'check and mark, 1,000,000 over 1,000 live entries',
      value: (million ?? 0) / (thousand ?? 0),
      unit: '×',
      target: 'ledgerMark',
      note: `${ns(million ?? 0)} and ${ns(thousand ?? 0)}`,
    },
  ];
}

function memory(): Figure {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const ledger = filled(MILLION);
  Bun.gc(true);
  const value = (process.memoryUsage.rss() - before) / MIB;
  assert.equal(ledger.size, MILLION);
  return { name: '1,000,000 entries', value, unit: 'MiB', target: 'ledgerMemory' };
}

/** Second by second from before the first entry leaves until after the last. */
function expiry(): Figure {
  const ledger = filled(MILLION);
  const probe = claims({ issuedMs: NOW_MS + 3_000_000 });
  let longestMs = 0;
  for (let second = 0; second < 300; second += 1) {
    const startedMs = performance.now();
    ledger.check(probe, NOW_MS + second * 1_000);
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  assert.equal(ledger.size, 0);
  const all = filled(MILLION);
  const startedMs = performance.now();
  all.check(probe, NOW_MS + 300_000);
  const atOnceMs = performance.now() - startedMs;
  assert.equal(all.size, 0);
  return {
    name: '1,000,000 entries expire, second by second or at once',
    value: Math.max(longestMs, atOnceMs),
    unit: 'ms',
    target: 'ledgerPause',
    note: `${longestMs.toFixed(2)} ms and ${atOnceMs.toFixed(2)} ms`,
  };
}

const memoryFigure = memory();
tell('Ledger', [...marking(), memoryFigure, expiry()]);
