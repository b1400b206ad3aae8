// The load process: one job a line on its standard input, one outcome a line on its standard output, until the input ends.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Job } from './job.ts';
import { runJob, type Tokens } from './load.ts';

/** Resolves when there are no more jobs. Rejects with an Error for a line that is none, or a job that cannot be run. */
export async function runLoadProcess(input: Readable, print: (line: string) => void): Promise<void> {
  const tokens: Tokens = [];
  for await (const line of createInterface({ input })) {
    if (line === '') continue;
    print(JSON.stringify(await runJob(JSON.parse(line) as Job, tokens)));
  }
}
