// `make soak`: what takes too long for every run of the tests. Prints one line a check; exit code 1 when one failed.

import process from 'node:process';
import { manyBodies } from './bodies.ts';
import { crowdOfStreams } from './crowd.ts';
import { mapPushes } from './map-pushes.ts';
import { manyRedirects } from './redirects.ts';
import { idleSiblings } from './siblings.ts';
import { longSilence, silence, silentBody } from './silence.ts';

interface Check {
  readonly name: string;
  /** Resolves with what was measured, in a few words; rejects with what is wrong. */
  readonly run: () => Promise<string>;
}

/** They run side by side, each on processes of its own; the silent ones need no CPU. */
const CHECKS: readonly Check[] = [
  { name: 'a stream silent for 15 s is not cut', run: silence },
  { name: 'streams silent for longer than any idle timeout are not cut', run: longSilence },
  { name: 'a body silent for longer than any idle timeout gets its 400', run: silentBody },
  { name: '1,000 streams at once', run: crowdOfStreams },
  { name: 'an idle router leaves its siblings alone', run: idleSiblings },
  { name: '2,000 redirects leave no memory behind', run: manyRedirects },
];

/** Take all the CPU there is, so they come last, each alone. */
const HEAVY: readonly Check[] = [
  { name: 'ten maps of 16 MiB stall no request for more than 50 ms (R-163)', run: mapPushes },
  { name: '1,000 bodies of 10 MB at once', run: manyBodies },
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

const areOk = await Promise.all(CHECKS.map(report));
for (const check of HEAVY) areOk.push(await report(check));
process.exit(areOk.every(Boolean) ? 0 : 1);
