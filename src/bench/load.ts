// Runs one job: a number of connections that ask as fast as they are answered, or at the times of a schedule.

import { Buffer } from 'node:buffer';
import { type Answer, LoadConnection, postBytes } from './connection.ts';
import type { Job, JobOutcome } from './job.ts';
import { Samples, summarize } from './latency.ts';
import { Schedule } from './schedule.ts';

/** Latencies that are kept: 8 MiB of them. */
const SAMPLES_MAX = 1_048_576;
/** Longest wait for the answers that are still out when the time is over. */
const PATIENCE_MS = 10_000;
const TOKEN = /\r\nlocation: [^\r]*[?&]rt=([\w.-]+)/i;

/** Tokens of redirects, for the requests that follow them; kept from job to job. */
export type Tokens = string[];

export async function runJob(job: Job, tokens: Tokens): Promise<JobOutcome> {
  const connections = await openAll(job);
  const tally = new Tally(job, tokens);
  const startedMs = performance.now();
  try {
    const work =
      job.perSecond === undefined
        ? askInTurn(connections, tally, startedMs + job.durationMs)
        : askOnSchedule(connections, tally, new Schedule(job.perSecond, job.durationMs));
    await Promise.race([work, patience(job.durationMs + PATIENCE_MS, tally)]);
  } finally {
    tally.close();
    for (const connection of connections) connection.close();
  }
  return tally.outcome(performance.now() - startedMs);
}

/** All of them, or none and the first error. */
async function openAll({ connections, port }: Job): Promise<readonly LoadConnection[]> {
  const opened = await Promise.allSettled(Array.from({ length: connections }, () => LoadConnection.open(port)));
  const failed = opened.find(({ status }) => status === 'rejected');
  const open = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (failed?.status !== 'rejected') return open;
  for (const connection of open) connection.close();
  throw failed.reason;
}

/** Counts what came back. */
class Tally {
  readonly #job: Job;
  readonly #tokens: Tokens;
  readonly #request: Buffer;
  readonly #samples = new Samples(SAMPLES_MAX);
  #answered = 0;
  #failed = 0;
  #failure = '';
  #isClosed = false;

  constructor(job: Job, tokens: Tokens) {
    this.#job = job;
    this.#tokens = tokens;
    this.#request = this.#requestTo(job.path);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes of the next request; undefined when every token was used. */
  next(): Buffer | undefined {
    if (this.#job.tokens !== 'use') return this.#request;
    const token = this.#tokens.pop();
    return token === undefined ? undefined : this.#requestTo(`${this.#job.path}?rt=${token}`);
  }

  /** One request, whose latency counts from `sinceMs`. */
  async ask(connection: LoadConnection, request: Buffer, sinceMs: number): Promise<void> {
    try {
      const answer = await connection.ask(request);
      if (this.#isClosed) return;
      if (answer.status !== this.#job.status) return this.fail(`status ${answer.status}`);
      this.#samples.add(performance.now() - sinceMs);
      this.#answered += 1;
      if (this.#job.tokens === 'keep') this.#keepToken(answer);
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    }
  }

  fail(why: string): void {
    if (this.#isClosed) return;
    this.#failed += 1;
    if (this.#failure === '') this.#failure = why;
  }

  close(): void {
    this.#isClosed = true;
  }

  outcome(elapsedMs: number): JobOutcome {
    const counts = { answered: this.#answered, failed: this.#failed, failure: this.#failure };
    return { ...counts, elapsedMs, latencies: summarize(this.#samples.values), tokens: this.#tokens.length };
  }

  #requestTo(target: string): Buffer {
    const { port, body, headers } = this.#job;
    return postBytes(port, target, Buffer.from(body, 'base64'), headers);
  }

  #keepToken({ head }: Answer): void {
    const [, token] = TOKEN.exec(head) ?? [];
    if (token !== undefined) this.#tokens.push(token);
  }
}

async function askInTurn(connections: readonly LoadConnection[], tally: Tally, endMs: number): Promise<void> {
  const askUntilEnd = async (connection: LoadConnection): Promise<void> => {
    while (performance.now() < endMs && !tally.isClosed) {
      const request = tally.next();
      if (request === undefined) return;
      await tally.ask(connection, request, performance.now());
    }
  };
  await Promise.all(connections.map(askUntilEnd));
}

/** A request that is due while every connection waits for an answer is sent later, but counts from when it was due. */
function askOnSchedule(connections: readonly LoadConnection[], tally: Tally, schedule: Schedule): Promise<void> {
  const startMs = performance.now();
  const idle = [...connections];
  return new Promise((resolve) => {
    const finishIfOver = (): void => {
      if (tally.isClosed || (schedule.isOver && idle.length === connections.length)) resolve();
    };
    const askNext = (connection: LoadConnection): void => {
      const dueMs = schedule.take(performance.now() - startMs);
      const request = dueMs === undefined ? undefined : tally.next();
      if (dueMs === undefined || request === undefined || tally.isClosed) {
        idle.push(connection);
        finishIfOver();
        return;
      }
      void tally.ask(connection, request, startMs + dueMs).then(() => askNext(connection));
    };
    const tick = (): void => {
      for (let left = idle.length; left > 0 && isDue(schedule, startMs); left -= 1) {
        const connection = idle.pop();
        if (connection !== undefined) askNext(connection);
      }
      if (schedule.isOver || tally.isClosed) finishIfOver();
      else setTimeout(tick, 1);
    };
    tick();
  });
}

function isDue(schedule: Schedule, startMs: number): boolean {
  const dueMs = schedule.nextDueMs();
  return dueMs !== undefined && dueMs <= performance.now() - startMs;
}

async function patience(ms: number, tally: Tally): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
  tally.fail(`no answer within ${PATIENCE_MS} ms`);
}
