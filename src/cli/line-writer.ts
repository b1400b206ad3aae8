// Lines to stdout and stderr. A reader that has gone, a full disk or a pipe that nobody empties costs lines, which are
// counted, and neither a request nor memory without end. What comes while the system takes a line is handed over in one
// piece after it: a write a request would cost a router at its limit a fifth of its time.

/** What is written of a stream: `process.stdout` and `process.stderr` are such. */
export interface LineStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** Lines handed to the system and not yet taken by it, in characters; beyond, lines are dropped. */
export const PENDING_MAX = 8 * 1024 * 1024;

export class LineWriter {
  readonly #stream: LineStream;
  /** Lines that wait for the write under way. */
  #waiting: string[] = [];
  #isWriting = false;
  #pending = 0;
  #dropped = 0;
  #onFlushed: (() => void)[] = [];

  constructor(stream: LineStream) {
    this.#stream = stream;
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
    if (!this.#isWriting) this.#writeWaiting();
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
    this.#isWriting = true;
    this.#stream.write(text, (error) => {
      if (error) this.#dropped += lines.length;
      this.#pending -= text.length;
      this.#isWriting = false;
      if (this.#waiting.length > 0) this.#writeWaiting();
      else for (const resolve of this.#onFlushed.splice(0)) resolve();
    });
  }
}
