// Lines to stdout and stderr. A reader that has gone, a full disk or a pipe that nobody empties costs lines, which are
// counted, and neither a request nor memory without end. A line after a pause is written at once, what follows it closely is
// gathered: a write for each request, which wakes the log's reader each time, would cost a busy router a fifth of its time.

/** What is written of a stream: `process.stdout` and `process.stderr` are such. */
export interface LineStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** Lines handed to the system and not yet taken by it, in characters; beyond, lines are dropped. */
export const PENDING_MAX = 8 * 1024 * 1024;

/** From one write to the next at least: how long a line waits at most for a system that takes it. */
export const GATHER_MS = 5;

export class LineWriter {
  readonly #stream: LineStream;
  readonly #after: (ms: number, run: () => void) => void;
  #waiting: string[] = [];
  /** A write is under way, or was begun a moment ago. */
  #isGathering = false;
  #pending = 0;
  #dropped = 0;
  #onFlushed: (() => void)[] = [];

  /** `after` runs something once that many milliseconds later. */
  constructor(
    stream: LineStream,
    after: (ms: number, run: () => void) => void = (ms, run) => void setTimeout(run, ms),
  ) {
    this.#stream = stream;
    this.#after = after;
    // Every failed write is told to its own callback; without a listener the event would end the process.
    stream.on('error', () => undefined);
  }

  /** Lines that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes `line`, which ends with a newline. */
  write(line: string): void {
    if (this.#pending + line.length > PENDING_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#pending += line.length;
    this.#waiting.push(line);
    if (!this.#isGathering) this.#writeWaiting();
  }

  /** Resolves when nothing is pending: with a stuck reader, never. */
  flushed(): Promise<void> {
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onFlushed.push(resolve));
  }

  #writeWaiting(): void {
    const lines = this.#waiting;
    const text = lines.join('');
    this.#waiting = [];
    this.#isGathering = true;
    let awaited = 2;
    const goOn = (): void => {
      awaited -= 1;
      if (awaited > 0) return;
      this.#isGathering = false;
      if (this.#waiting.length > 0) this.#writeWaiting();
    };
    this.#after(GATHER_MS, goOn);
    this.#stream.write(text, (error) => {
      if (error) this.#dropped += lines.length;
      this.#pending -= text.length;
      if (this.#pending === 0) for (const resolve of this.#onFlushed.splice(0)) resolve();
      goOn();
    });
  }
}
