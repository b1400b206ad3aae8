// The load process as its parent sees it: a job goes in, its outcome comes out, one at a time.

import { Child } from './child.ts';
import type { Job, JobOutcome } from './job.ts';

/** Beyond the job's own time: connecting, and waiting for the last answers. */
const PATIENCE_MS = 20_000;

export class LoadDriver {
  readonly child: Child;

  /** `self`: how this program is started. */
  constructor(self: readonly string[]) {
    this.child = new Child([...self, 'bench', 'load']);
  }

  async run(job: Job): Promise<JobOutcome> {
    const line = this.child.line((text) => text.startsWith('{'), job.durationMs + PATIENCE_MS);
    this.child.write(JSON.stringify(job));
    return JSON.parse(await line) as JobOutcome;
  }
}
