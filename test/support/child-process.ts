// Starts a program, most often the compiled binary, and reads what it prints, line by line, so that a test waits for a
// line and never for a time.

import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** dist/hivenet-router, as `make build` leaves it. */
export const BINARY = fileURLToPath(new URL('../../dist/hivenet-router', import.meta.url));

/** Longest wait for a line, and for a program that should end by itself. */
const PATIENCE_MS = 10_000;
/** Longest wait for an end that was asked for. */
const STOP_PATIENCE_MS = 3000;

export interface RunningProcess {
  readonly pid: number;
  /** Lines of stdout so far, in order. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /**
   * The first line that matches, already printed or still to come; rejects when the process ends first, and after 10 s.
   */
  line(matches: (line: string) => boolean, from?: 'stdout' | 'stderr'): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or null when a signal ended the process. */
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM, after 3 s SIGKILL, and resolves as `ended` does. */
  stop(): Promise<number | null>;
  /** Reads no more of its stdout: the pipe fills. */
  stopReading(): void;
  /** Closes this end of its stdout: writing to it fails. */
  hangUp(): void;
  /** Sends SIGKILL, and resolves as `ended` does: for tests that are done with it. */
  kill(): Promise<number | null>;
}

/** Environment of a child: nothing of this process's own settings, and no home. */
export const BARE_ENV: Readonly<Record<string, string>> = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' };

/** Starts `command`. The child ends with this process. */
export function start(command: readonly string[], env: Readonly<Record<string, string>>, cwd?: string): RunningProcess {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(cwd === undefined ? {} : { cwd }) });
  const endChild = () => void child.kill('SIGKILL');
  process.once('exit', endChild);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', endChild);
      resolve(code);
    });
  });
  const waiting = new Set<() => void>();
  const stdout = collectLines(child, 'stdout', waiting);
  const stderr = collectLines(child, 'stderr', waiting);
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    ended,
    signal: (name) => void child.kill(name),
    line: (matches, from = 'stdout') => awaitLine({ stdout, stderr, waiting, ended }, from, matches),
    stop: () => {
      child.kill('SIGTERM');
      const impatience = setTimeout(endChild, STOP_PATIENCE_MS);
      return ended.finally(() => clearTimeout(impatience));
    },
    stopReading: () => void child.stdout?.pause(),
    hangUp: () => void child.stdout?.destroy(),
    kill: () => {
      endChild();
      return ended;
    },
  };
}

/** Everything that a program printed, once it has ended by itself. */
export interface EndedProcess {
  readonly code: number | null;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

/** Runs `command` to its end; one that goes on for 10 s is killed, and its code is null. */
export async function run(
  command: readonly string[],
  env: Readonly<Record<string, string>> = BARE_ENV,
  cwd?: string,
): Promise<EndedProcess> {
  const { stdout, stderr, ended, signal } = start(command, env, cwd);
  const impatience = setTimeout(() => signal('SIGKILL'), PATIENCE_MS);
  const code = await ended.finally(() => clearTimeout(impatience));
  return { code, stdout, stderr };
}

function collectLines(child: ChildProcess, name: 'stdout' | 'stderr', waiting: ReadonlySet<() => void>): string[] {
  const lines: string[] = [];
  let rest = '';
  child[name]?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const look of waiting) look();
  });
  child[name]?.once('end', () => {
    if (rest !== '') lines.push(rest);
  });
  return lines;
}

interface Watched extends Pick<RunningProcess, 'stdout' | 'stderr' | 'ended'> {
  readonly waiting: Set<() => void>;
}

function awaitLine(watched: Watched, from: 'stdout' | 'stderr', matches: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      watched.waiting.delete(look);
      clearTimeout(impatience);
    };
    const look = (): void => {
      const found = watched[from].find(matches);
      if (found === undefined) return;
      finish();
      resolve(found);
    };
    const giveUp = (why: string): void => {
      finish();
      reject(new Error(`${why} before the awaited line:\n${watched.stderr.slice(-20).join('\n')}`));
    };
    const impatience = setTimeout(giveUp, PATIENCE_MS, `${PATIENCE_MS / 1000} s passed`);
    watched.waiting.add(look);
    watched.ended.then((code) => {
      look();
      giveUp(`Process ended with ${code}`);
    }, reject);
    look();
  });
}
