// `make check-model`: the redirect protocol by search, in full. Every line can be had again from the seed it prints; exit
// code 1 when a promise was broken, after the smallest story of how. Takes some minutes.

import process from 'node:process';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { tryForgeries } from '../redirect/forged-tokens.ts';
import { LEDGER_WORLDS, type LedgerWorld, simulateLedger } from '../redirect/ledger-traces.ts';
import { searchEvents, type Universe } from './events.ts';
import { RouterSet } from './router-set.ts';
import { LOOPING, SPACES, UNIVERSES } from './searches.ts';
import { type Space, search } from './spaces.ts';
import { literalPassage } from './token-desk.ts';

const SEED = Number(process.env['SEED'] ?? 1);
const TRACES = 5_000;
const FORGERIES = 1_000_000;
const PROGRESS_MS = 5_000;

interface Outcome {
  readonly isGood: boolean;
  /** What was counted, in a few words. */
  readonly text: string;
  /** Cases, meetings, traces or texts that were tried. */
  readonly tried: number;
  readonly story?: string | undefined;
}

interface Check {
  readonly name: string;
  readonly run: (progress: (text: string) => void) => Outcome;
}

const number = new Intl.NumberFormat('en').format;

function spaceCheck(space: Space): Check {
  return {
    name: space.name,
    run: (progress) => {
      const found = search(new RouterSet(), space, (cases) => progress(`${number(cases)} cases`));
      const lengths = found.byRedirects.map((cases, redirects) => `${number(cases)} with ${redirects}`).join(', ');
      const text = `${number(found.cases)} cases, redirects: ${lengths}; ${number(found.promised)} promised an agent`;
      return { isGood: found.violations === 0, text, tried: found.cases, story: found.trace };
    },
  };
}

/** With the page's rule taken literally: the search must find the endless loops, or it proves nothing. */
function literalCheck(space: Space): Check {
  return {
    name: `${space.name}, literal fallback`,
    run: (progress) => {
      const found = search(new RouterSet(literalPassage), space, (cases) => progress(`${number(cases)} cases`));
      const text = `${number(found.endless)} endless loops found, as they must be`;
      return { isGood: found.endless > 0, text, tried: found.cases };
    },
  };
}

function universeCheck(universe: Universe): Check {
  return {
    name: universe.name,
    run: (progress) => {
      const found = searchEvents(new RouterSet(), universe, (redirects, requests) =>
        progress(`${number(requests)} requests with ${redirects} redirects behind them`),
      );
      const requests = found.byRedirects.map((count, redirects) => `${number(count)} after ${redirects}`).join(', ');
      const text =
        `${number(found.meetings)} meetings of a request and a router, ${number(found.holds)} decisions after a hold; ` +
        `requests: ${requests}`;
      return { isGood: found.violation === undefined, text, tried: found.meetings, story: found.trace };
    },
  };
}

function ledgerCheck(world: LedgerWorld): Check {
  return {
    name: `ledger: ${world.name}`,
    run: () => {
      const counts = simulateLedger(world, { seed: SEED * TRACES, traces: TRACES }, () => new UsedTokenLedger());
      const { acceptedTwice, firstUseRefused, acceptedAfterCheck8, acceptedAfterCheck2, story } = counts;
      const isGood = acceptedTwice + acceptedAfterCheck8 + (world.isOrdinary ? firstUseRefused : 0) === 0;
      const text =
        `${number(TRACES)} traces: ${acceptedTwice} accepted twice, ${acceptedAfterCheck8} after check 8 refused, ` +
        `${acceptedAfterCheck2} after a clock ran ahead; ${number(firstUseRefused)} first uses refused`;
      return { isGood, text, tried: TRACES, story };
    },
  };
}

const FORGERY_CHECK: Check = {
  name: 'forged tokens',
  run: () => {
    const { opened, claimsRead } = tryForgeries(String(SEED), FORGERIES);
    const text = `${number(FORGERIES)} texts: ${opened.length} opened, the claims of ${claimsRead} read`;
    return { isGood: opened.length === 0 && claimsRead === 0, text, tried: FORGERIES, story: opened[0] };
  },
};

const CHECKS: readonly Check[] = [
  ...SPACES.map(spaceCheck),
  ...LOOPING.map(literalCheck),
  ...UNIVERSES.map(universeCheck),
  ...LEDGER_WORLDS.map(ledgerCheck),
  FORGERY_CHECK,
];

/** Says now and then how far a check has come. */
function progressOf(name: string): (text: string) => void {
  let saidMs = performance.now();
  return (text) => {
    if (performance.now() < saidMs + PROGRESS_MS) return;
    saidMs = performance.now();
    process.stdout.write(`      ${name}: ${text}\n`);
  };
}

process.stdout.write(`seed ${SEED} (SEED=n make check-model for another)\n`);
let tried = 0;
let failed = 0;
for (const { name, run } of CHECKS) {
  const startedMs = performance.now();
  const outcome = run(progressOf(name));
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  process.stdout.write(`${outcome.isGood ? 'ok  ' : 'FAIL'}  ${name}: ${outcome.text} (${seconds} s)\n`);
  if (!outcome.isGood) process.stdout.write(`${outcome.story ?? 'no story'}\n`);
  tried += outcome.tried;
  failed += outcome.isGood ? 0 : 1;
}
process.stdout.write(`${number(tried)} tried, ${failed} of ${CHECKS.length} checks failed\n`);
process.exit(failed === 0 ? 0 : 1);
