// `make soak`: what takes too long for every run of the tests. Prints one line a check; exit code 1 when one failed.

import process from 'node:process';
import { manyBodies } from './bodies.ts';
import { crowdOfStreams } from './crowd.ts';
import { engineReturns } from './engine-returns.ts';
import { slowReader } from './flood.ts';
import { manyHeld } from './held.ts';
import { idleCloses } from './idle-closes.ts';
import { keptKeyPushes, keyPushes } from './key-pushes.ts';
import { keptMapPushes, mapPushes } from './map-pushes.ts';
import { pacedStreams } from './paced-streams.ts';
import { manyRedirects } from './redirects.ts';
import { idleSiblings } from './siblings.ts';
import { bodyAfterIdling, longSilence, silence, silentBody } from './silence.ts';
import { stateCrashes } from './state-crashes.ts';
import { graceEnds } from './stop.ts';

interface Check {
  readonly name: string;
  /** Resolves with what was measured, in a few words; rejects with what is wrong. */
  readonly run: () => Promise<string>;
}

/** They run one after another, each with the machine to itself: what they measure are times and memory. */
const ALONE: readonly Check[] = [
  { name: 'ten maps of 16 MiB stall no request for more than 50 ms (R-163)', run: mapPushes },
  { name: 'the same with a state directory', run: keptMapPushes },
  { name: '50,000 keys are replaced in 1 s, and stall no request for more than 50 ms', run: keyPushes },
  { name: 'the same with a state directory', run: keptKeyPushes },
  { name: '1,000 bodies of 10 MB at once', run: manyBodies },
  { name: '1,000 streams of 5 chunks a second keep their pace', run: pacedStreams },
  { name: '200 MB to a client that does not read, and then reads', run: slowReader },
  { name: 'a router killed 25 times has what it answered, whole', run: stateCrashes },
  { name: '2,000 requests of 64 KiB held for 60 s', run: manyHeld },
  { name: 'one of three engines dies under load and returns', run: engineReturns },
];

/** They run side by side, each on processes of its own; the silent ones need no CPU. */
const CHECKS: readonly Check[] = [
  { name: 'a stream silent for 15 s is not cut', run: silence },
  { name: 'streams silent for longer than any idle timeout are not cut', run: longSilence },
  { name: 'a body silent for longer than any idle timeout gets its 400', run: silentBody },
  { name: 'a silent body after an idle connection gets its 400', run: bodyAfterIdling },
  { name: '1,000 streams at once', run: crowdOfStreams },
  { name: 'an idle router leaves its siblings alone', run: idleSiblings },
  { name: 'an engine that closes idle connections after 5 s loses no request', run: idleCloses },
  { name: 'a stream of 35 s under a grace of 30 s ends with an error event', run: graceEnds },
  { name: '2,000 redirects leave no memory behind', run: manyRedirects },
];

async function report({ name, run }: Check): Promise<boolean> {
  const startedMs = performance.now();
  const [isOk, text] = await run().then(
    (measured) => [true, measured] as const,
    (error) => [false, error instanceof Error ? error.message : String(error)] as const,
  );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`${isOk ? 'ok  ' : 'FAIL'}  ${name}: ${text} (${seconds} s)\n`);
  return isOk;
}

const areOk: boolean[] = [];
for (const check of ALONE) areOk.push(await report(check));
areOk.push(...(await Promise.all(CHECKS.map(report))));
process.exit(areOk.every(Boolean) ? 0 : 1);
