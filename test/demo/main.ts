// `make demo`: the product's main job, end to end and checked. Exit code 0 only when every step did what it should; 1 and
// a line that says what failed otherwise; 130 when it was interrupted before its end.

import process from 'node:process';
import { redactText } from '../../src/telemetry/redact.ts';
import { callsOf } from './calls.ts';
import { type Fleet, Started, startFleet } from './fleet.ts';
import { DemoFailure, expect, followJourney, howFar } from './journey.ts';
import { printCurlLines } from './keep.ts';
import { scrapeBoth } from './metrics.ts';
import { replayToken } from './replay.ts';
import { print, printCall, printFleet, printMetrics, printReplay } from './report.ts';

/** `--without-second-site` is there to see the demo fail. */
const OPTIONS = ['--keep', '--without-second-site'];

async function runDemo(started: Started, options: ReadonlySet<string>): Promise<void> {
  const startedMs = performance.now();
  const fleet = await step('start', () => startFleet(started));
  printFleet(fleet);
  if (options.has('--without-second-site')) await fleet.second.stop();
  const calls = callsOf(fleet);
  for (const { name, make } of calls) {
    const call = await step(name, make, fleet);
    printCall(fleet, name, call, await step(name, () => followJourney(fleet, call)));
  }
  printReplay(fleet, await step('replay', () => replayToken(fleet)));
  printMetrics(fleet, await step('metrics', () => scrapeBoth(fleet, calls.length + 1)));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  print(`All ${calls.length} calls were served by ${fleet.second.id}, and the replay was refused: ${seconds} s.`);
  if (!options.has('--keep')) return;
  print();
  printCurlLines(fleet);
  print('Running until Ctrl-C.');
}

/** A failure becomes one line: the step, how far it came, and why it went no further. */
async function step<Value>(name: string, run: () => Promise<Value>, fleet?: Fleet): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    const far = fleet === undefined || error instanceof DemoFailure ? '' : `${await howFar(fleet)}, then: `;
    throw new DemoFailure(redactText(`${name}: ${far}${reason}${cause}`), { cause: error });
  }
}

/** Resolves at the first signal that asks for an end. */
function interruption(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve('interrupted'));
  });
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => !OPTIONS.includes(arg));
  const started = new Started();
  const interrupted = interruption();
  try {
    expect(unknown === undefined, `unknown option "${unknown}": use ${OPTIONS.join(' or ')}`);
    const outcome = await Promise.race([runDemo(started, new Set(args)), interrupted]);
    if (outcome === 'interrupted') return 130;
    if (args.includes('--keep')) await interrupted;
    return 0;
  } catch (error) {
    if (!(error instanceof DemoFailure)) throw error;
    process.stderr.write(`FAILED ${error.message}\n`);
    return 1;
  } finally {
    await started.stop();
  }
}

process.exit(await main(process.argv.slice(2)));
