// A process of this binary, started for the length of a benchmark: what it prints, its processor time and its memory.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface, type Interface } from 'node:readline';

/** Longest wait for a line that is expected. */
const PATIENCE_MS = 15_000;
/** Lines of its complaints that are kept for the error. */
const COMPLAINTS_MAX = 5;

export class Child {
  readonly #process: ChildProcess;
  readonly #lines: Interface | undefined;
  readonly #complaints: string[] = [];
  #expected: { readonly matches: (line: string) => boolean; readonly resolve: (line: string) => void } | undefined;
  readonly #ended: Promise<void>;

  /** `environment` is all that it has: no setting of this process reaches it. */
  constructor(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const [file = '', ...args] = command;
    this.#process = spawn(file, args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', ({ message }) => {
        this.#complain(message);
        resolve();
      });
      this.#process.once('close', () => resolve());
    });
    // Of a process that could not be started, for want of descriptors for one, there are none, not even null.
    const { stdout, stderr } = this.#process;
    if (stdout) this.#lines = createInterface({ input: stdout }).on('line', (line) => this.#take(line));
    if (stderr) createInterface({ input: stderr }).on('line', (line) => this.#complain(line));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The next line that matches; lines before it are dropped. Rejects with its complaints when it ends first. */
  line(matches: (line: string) => boolean, patienceMs: number = PATIENCE_MS): Promise<string> {
    return new Promise((resolve, reject) => {
      const giveUp = (why: string): void =>
        reject(new Error(`${why}: ${this.#complaints.join('; ') || 'without a word'}`));
      const impatience = setTimeout(giveUp, patienceMs, 'A process of the benchmark does not answer');
      void this.#ended.then(() => {
        clearTimeout(impatience);
        giveUp('A process of the benchmark ended');
      });
      const found = (line: string): void => {
        clearTimeout(impatience);
        resolve(line);
      };
      this.#expected = { matches, resolve: found };
    });
  }

  /** What follows `prefix` in the line that begins with it. */
  async after(prefix: string): Promise<string> {
    return (await this.line((line) => line.startsWith(prefix))).slice(prefix.length);
  }

  /** Throws its output away from here on, as fast as it comes. */
  ignoreOutput(): void {
    this.#lines?.close();
    this.#process.stdout?.resume();
  }

  write(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** Resolves once it has ended, whatever it was doing. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  #complain(line: string): void {
    if (this.#complaints.length < COMPLAINTS_MAX) this.#complaints.push(line);
  }

  #take(line: string): void {
    const expected = this.#expected;
    if (expected === undefined || !expected.matches(line)) return;
    this.#expected = undefined;
    expected.resolve(line);
  }
}

/** How this program is started once more, as `hivenet-router` would be: the binary, or Bun with its script. */
export function selfCommand(): readonly string[] {
  const [, script = ''] = process.argv;
  const isCompiled = script.startsWith('/$bunfs/');
  return isCompiled ? [process.execPath] : [process.execPath, ...process.execArgv, script];
}

/** Processor time of all threads so far, in ms; undefined where the system does not tell it (no Linux). */
export function cpuMs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
    );
    return ns.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return undefined;
  }
}

/** Resident memory in MiB, likewise. */
export function memoryMib(pid: number): number | undefined {
  return statusMib(pid, /^VmRSS:\s+(\d+)/m);
}

/** The most that it ever was, likewise. */
export function peakMemoryMib(pid: number): number | undefined {
  return statusMib(pid, /^VmHWM:\s+(\d+)/m);
}

function statusMib(pid: number, line: RegExp): number | undefined {
  try {
    return Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return undefined;
  }
}
