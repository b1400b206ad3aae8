// The simulation of redirect-requirements 6.3: tokens presented again and again around their end, bodies that trickle, a
// clock that steps; all of it from one seed, on the real checks. It counts what must not happen.

import { seededNumbers } from '../../src/mock-engine/chance.ts';
import { lastValidMs, type RedirectClaims } from '../../src/redirect/claims.ts';
import { mintToken } from '../../src/redirect/token.ts';
import { claims, keyring, NOW_MS, present, tokenId } from './builders.ts';
import { facts, presented, Target, type TokenLedger } from './target.ts';

export interface LedgerWorld {
  readonly name: string;
  /** One body in five takes up to this long, the others half a second. */
  readonly slowBodyMs: number;
  /** The target's clock jumps by up to this much, either way. */
  readonly clockStepMs: number;
  /** Whether this is ordinary traffic, of which no first use may be refused. */
  readonly isOrdinary: boolean;
}

export const LEDGER_WORLDS: readonly LedgerWorld[] = [
  { name: 'steady clock, bodies under 0.5 s', slowBodyMs: 500, clockStepMs: 0, isOrdinary: true },
  { name: 'steady clock, bodies up to 60 s', slowBodyMs: 60_000, clockStepMs: 0, isOrdinary: true },
  { name: 'steady clock, bodies up to 200 s', slowBodyMs: 200_000, clockStepMs: 0, isOrdinary: false },
  { name: 'clock steps of 10 min, bodies under 0.5 s', slowBodyMs: 500, clockStepMs: 600_000, isOrdinary: false },
  { name: 'clock steps of 1 h, bodies up to 200 s', slowBodyMs: 200_000, clockStepMs: 3_600_000, isOrdinary: false },
];

export interface LedgerCounts {
  acceptedTwice: number;
  firstUseRefused: number;
  /** Accepted although check 8 had refused the token before. */
  acceptedAfterCheck8: number;
  /** Accepted although the token had been `expired` for a request that arrived earlier: the clock stepped back. */
  acceptedAfterCheck2: number;
  /** Everything that happened to the first token that was accepted twice, or after check 8 refused it. */
  story: string | undefined;
}

const TOKENS = 20;
const KEYRING = keyring();

type Chance = (bound: number) => number;

interface Presentation {
  readonly claims: RedirectClaims;
  readonly text: string;
  readonly arrivedMs: number;
  readonly completeMs: number;
}

interface Outcome extends Presentation {
  readonly reason: string;
  /** What the target's clock showed. */
  readonly shownMs: readonly [head: number, complete: number];
}

/** `traces` traces from `seed` on, each with a ledger of its own. */
export function simulateLedger(
  world: LedgerWorld,
  { seed, traces }: { readonly seed: number; readonly traces: number },
  newLedger: () => TokenLedger,
): LedgerCounts {
  const counts: LedgerCounts = {
    acceptedTwice: 0,
    firstUseRefused: 0,
    acceptedAfterCheck8: 0,
    acceptedAfterCheck2: 0,
    story: undefined,
  };
  for (let trace = seed; trace < seed + traces; trace += 1) {
    const outcomes = runTrace(world, trace, newLedger());
    for (const ofToken of Map.groupBy(outcomes, (outcome) => outcome.claims.tokenId).values()) {
      count(ofToken, counts, `${world.name}, seed ${trace}`);
    }
  }
  return counts;
}

function runTrace(world: LedgerWorld, seed: number, ledger: TokenLedger): readonly Outcome[] {
  const numbers = seededNumbers(`${world.name} ${seed}`);
  const chance: Chance = (bound) => Math.floor(numbers() * bound);
  const clock = targetClock(world, chance);
  const target = new Target(ledger, KEYRING);
  return presentationsOf(world, chance, clock).map((presentation) => {
    const [head, complete] = [clock(presentation.arrivedMs), clock(presentation.completeMs)];
    const request = presented([presentation.text], { facts: facts({ arrivedMs: head }), completeMs: complete });
    const refusal = target.take(request);
    return { ...presentation, reason: refusal?.reason ?? 'accepted', shownMs: [head, complete] };
  });
}

/** What the target's clock shows at a time: that time, or every 30 s another step away from it. */
function targetClock(world: LedgerWorld, chance: Chance): (timeMs: number) => number {
  const steps = Array.from({ length: 40 }, () =>
    chance(2) === 0 ? 0 : chance(2 * world.clockStepMs + 1) - world.clockStepMs,
  );
  return (timeMs) => timeMs + (steps[Math.floor((timeMs - NOW_MS) / 30_000)] ?? 0);
}

/**
 * Every token one to four times, mostly near its end, in the order in which the bodies are complete. Half of the issuers
 * have the clock that the target has.
 */
function presentationsOf(
  world: LedgerWorld,
  chance: Chance,
  clock: (timeMs: number) => number,
): readonly Presentation[] {
  const presentations = Array.from({ length: TOKENS }, (_, number) => {
    const mintedMs = NOW_MS + chance(240_000);
    const lifetimeMs = 1_000 + chance(60_000);
    const issuedMs = chance(2) === 0 ? mintedMs : clock(mintedMs);
    const token = claims({ tokenId: tokenId(number), issuedMs, lifetimeMs });
    const text = present(mintToken(token, KEYRING));
    return Array.from({ length: 1 + chance(4) }, () => {
      const afterMs = chance(4) === 0 ? chance(500) : Math.max(0, lifetimeMs + 5_000 - chance(3_000));
      const bodyMs = chance(chance(5) === 0 ? world.slowBodyMs : 500);
      return { claims: token, text, arrivedMs: mintedMs + afterMs, completeMs: mintedMs + afterMs + bodyMs };
    });
  });
  return presentations.flat().sort((one, other) => one.completeMs - other.completeMs);
}

/** Whether check 8 refused it: `expired` is check 2's word too, for a head that came too late. */
function isRefusedByLedger({ claims: token, reason, shownMs: [head] }: Outcome): boolean {
  return reason === 'replay' || (reason === 'expired' && head <= lastValidMs(token));
}

function count(ofToken: readonly Outcome[], counts: LedgerCounts, where: string): void {
  let isUsed = false;
  let isRefused = false;
  for (const outcome of ofToken) {
    const isByLedger = isRefusedByLedger(outcome);
    if (isByLedger && !isUsed) counts.firstUseRefused += 1;
    isRefused ||= isByLedger;
    if (outcome.reason !== 'accepted') continue;
    if (isUsed) counts.acceptedTwice += 1;
    if (isRefused) counts.acceptedAfterCheck8 += 1;
    if (isUsed || isRefused) counts.story ??= tell(ofToken, where);
    const wasExpired = (other: Outcome) => other.reason === 'expired' && other.arrivedMs < outcome.arrivedMs;
    if (ofToken.some((other) => wasExpired(other) && !isRefusedByLedger(other))) counts.acceptedAfterCheck2 += 1;
    isUsed = true;
  }
}

function tell(ofToken: readonly Outcome[], where: string): string {
  const lines = ofToken.map(({ arrivedMs, completeMs, shownMs: [head, complete], reason, claims: token }) => {
    const since = (timeMs: number) => `${timeMs - token.issuedMs} ms`;
    return `  head at ${since(arrivedMs)} (clock ${since(head)}), body at ${since(completeMs)} (clock ${since(complete)}): ${reason}`;
  });
  const [first] = ofToken;
  const lifetimeMs = first === undefined ? 0 : first.claims.lifetimeMs;
  return [`${where}: a token of ${lifetimeMs} ms, times since its issue`, ...lines].join('\n');
}
