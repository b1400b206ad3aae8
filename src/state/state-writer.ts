// When the state is written: counters together once a second, documents at once, and whatever could not be written again
// later. A disk that is full or slow is told about and stops no request.

import type { Steps } from '../lib/steps.ts';
import type { DailyUse } from '../quota/daily-budget.ts';
import type { AgentCounters, DocumentName, State, StoredDocument } from './state.ts';

/** A crash loses at most the daily use and the counters of this time, and of that which a document's write takes. */
export const FLUSH_MS = 1_000;

/** Rows of one transaction: some 5 ms. */
const ROWS_PER_STEP = 1_000;

/** Of the log, before it is emptied while nobody waits; */
export const LOG_MAX_BYTES = 8 * 1024 * 1024;
/** and while a large document is being written: some 20 ms of copying. */
export const LOG_FULL_BYTES = 32 * 1024 * 1024;

/** Budgets and agents that may wait to be written, when the disk takes none; of more, the oldest are not written. */
export const PENDING_MAX = 100_000;

const DAY_MS = 86_400_000;
/** Yesterday's use is kept for those whose clock is behind. */
const DAYS_KEPT = 2;
const AGENTS_KEPT_MS = 30 * DAY_MS;

export interface WriterPorts {
  readonly state: State;
  /** Runs once after `delayMs`. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** Lets requests in between two pieces of work. */
  readonly pause: () => Promise<void>;
  /** Unix ms. */
  readonly nowMs: () => number;
  /** The whole document as it is held now; undefined when there is none. */
  readonly documents: Readonly<Record<DocumentName, () => StoredDocument | undefined>>;
  /** Told of every write that failed; `isNews` is false while nothing could be written in between. */
  readonly onFailure: (reason: string, isNews: boolean) => void;
  readonly onRecovery: () => void;
}

export class StateWriter {
  readonly #ports: WriterPorts;
  /** By budget and day: the newest figure that is not written. */
  readonly #uses = new Map<string, DailyUse>();
  readonly #agents = new Map<string, AgentCounters>();
  /** Documents of which the file has an older state, because a write failed. */
  readonly #stale = new Set<DocumentName>();
  /** Documents that were replaced, and what was before takes room. */
  readonly #unswept = new Set<DocumentName>();
  /** The end of the last write that was asked for: one at a time, in order. */
  #last: Promise<unknown> = Promise.resolve();
  #cancelFlush: (() => void) | undefined;
  /** Since the last recovery, and in all. */
  #hasFailed = false;
  #failures = 0;
  #isTidy = true;
  #isClosed = false;
  #forgotDay = 0;

  constructor(ports: WriterPorts) {
    this.#ports = ports;
  }

  /** The budget's tokens of the day in all; written within {@link FLUSH_MS}. */
  noteUse(use: DailyUse): void {
    note(this.#uses, `${use.day} ${use.budget}`, use);
    this.#flushSoon();
  }

  noteAgent(agent: AgentCounters): void {
    note(this.#agents, agent.id, agent);
    this.#flushSoon();
  }

  /** The document was replaced whole. Resolves once it is written, or could not be. */
  replaced(name: DocumentName): Promise<void> {
    return this.#inTurn(() => this.#writeDocument(name));
  }

  /** One part of it was put, or taken out with an undefined body. Resolves as {@link replaced}. */
  partChanged(name: DocumentName, version: string, part: string, body: Uint8Array | undefined): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#stale.has(name)) return this.#writeDocument(name);
      const isWritten = await this.#write(once(() => this.#ports.state.changePart(name, version, part, body)));
      if (!isWritten) this.#becomeStale(name);
    });
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#flush());
  }

  /** Writes what waits and closes the state; nothing is written after it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelFlush?.();
    await this.flush();
    await this.#last;
    await this.#tidy(0);
    this.#ports.state.close();
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(async () => {
      const failures = this.#failures;
      await write();
      if (this.#failures === failures) this.#recover();
    });
    // Nobody waits for that but the next write. After a failed one even a short log may be what takes the room.
    this.#last = turn.then(() => this.#tidy(this.#hasFailed ? 0 : LOG_MAX_BYTES));
    return turn;
  }

  /** Frees the room of what was replaced, and empties a log that is longer than `logBytes`. */
  async #tidy(logBytes: number): Promise<void> {
    const shorten = () => this.#shorten(logBytes);
    this.#isTidy = await this.#attempt(shorten);
    for (const name of this.#unswept) {
      this.#unswept.delete(name);
      await this.#write(this.#ports.state.sweepDocument(name));
      this.#isTidy = await this.#attempt(shorten);
    }
  }

  async #shorten(logBytes: number): Promise<void> {
    const { state } = this.#ports;
    if (state.logBytes() > logBytes) await state.checkpoint();
  }

  /** A turn went well: told when others did not, unless there still is what only a larger write can save. */
  #recover(): void {
    if (!this.#hasFailed || this.#stale.size > 0 || !this.#isTidy) return;
    this.#hasFailed = false;
    this.#ports.onRecovery();
  }

  async #flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const { state, nowMs } = this.#ports;
    for (const name of [...this.#stale]) await this.#writeDocument(name);
    const isWritten =
      (await this.#writeRows(this.#uses, (uses) => state.writeDailyUse(uses))) &&
      (await this.#writeRows(this.#agents, (agents) => state.writeAgents(agents, nowMs())));
    if (isWritten) await this.#forget();
    else this.#flushSoon();
  }

  /** What was noted anew meanwhile is newer than what could not be written. */
  async #writeRows<Row>(pending: Map<string, Row>, write: (rows: readonly Row[]) => void): Promise<boolean> {
    const rows = [...pending];
    pending.clear();
    for (let start = 0; start < rows.length; start += ROWS_PER_STEP) {
      const some = rows.slice(start, start + ROWS_PER_STEP).map(([, row]) => row);
      if (await this.#write(once(() => write(some)))) continue;
      const newer = [...pending];
      pending.clear();
      for (const [key, row] of [...rows.slice(start), ...newer]) note(pending, key, row);
      return false;
    }
    return true;
  }

  /** Once a day. */
  async #forget(): Promise<void> {
    const { state, nowMs } = this.#ports;
    const day = Math.floor(nowMs() / DAY_MS);
    if (day === this.#forgotDay) return;
    const isWritten = await this.#write(once(() => state.forget(day - DAYS_KEPT + 1, nowMs() - AGENTS_KEPT_MS)));
    if (isWritten) this.#forgotDay = day;
  }

  async #writeDocument(name: DocumentName): Promise<void> {
    const { state, documents } = this.#ports;
    const document = documents[name]();
    const isWritten = await this.#write(
      document === undefined
        ? once(() => state.deleteDocument(name))
        : // A reading of what is held now, so that a retry never writes what was replaced meanwhile.
          state.replaceDocument(name, document),
    );
    if (!isWritten) return this.#becomeStale(name);
    this.#stale.delete(name);
    this.#unswept.add(name);
  }

  #write(steps: Steps<void>): Promise<boolean> {
    return this.#attempt(async () => {
      try {
        while (steps.next().done !== true) {
          await this.#ports.pause();
          await this.#shorten(LOG_FULL_BYTES);
        }
      } finally {
        // A document that was begun must not stay open.
        steps.return(undefined);
      }
    });
  }

  async #attempt(run: () => Promise<void>): Promise<boolean> {
    const { onFailure } = this.#ports;
    try {
      await run();
    } catch (error) {
      onFailure(error instanceof Error ? error.message : String(error), !this.#hasFailed);
      this.#hasFailed = true;
      this.#failures += 1;
      return false;
    }
    return true;
  }

  #becomeStale(name: DocumentName): void {
    this.#stale.add(name);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isClosed) return;
    this.#cancelFlush ??= this.#ports.after(FLUSH_MS, () => void this.flush());
  }
}

function note<Row>(pending: Map<string, Row>, key: string, row: Row): void {
  pending.delete(key);
  pending.set(key, row);
  if (pending.size <= PENDING_MAX) return;
  for (const oldest of pending.keys()) {
    pending.delete(oldest);
    break;
  }
}

/** Short work, begun when its turn comes. */
function* once(run: () => void): Steps<void> {
  yield;
  run();
}
