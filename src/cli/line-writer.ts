// Lines to stdout and stderr. A reader that has gone, a full disk or a pipe that nobody empties costs lines, which are
// counted, and neither a request nor memory without end.

/** What is written of a stream: `process.stdout` and `process.stderr` are such. */
export interface LineStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** Lines handed to the system and not yet taken by it, in characters; beyond, lines are dropped. */
export const PENDING_MAX = 8 * 1024 * 1024;

export class LineWriter {
  readonly #stream: LineStream;
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
    this.#stream.write(line, (error) => {
      if (error) this.#dropped += 1;
      this.#pending -= line.length;
      if (this.#pending === 0) for (const resolve of this.#onFlushed.splice(0)) resolve();
    });
  }

  /** Resolves when nothing is pending: with a stuck reader, never. */
  flushed(): Promise<void> {
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onFlushed.push(resolve));
  }
}
