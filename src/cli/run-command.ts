// Picks the command. `serve` is the default, so that a systemd unit needs the binary's path and nothing else. A command is
// loaded once it is asked for: what the others need would cost every start of the router some milliseconds.

import process from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import { formatHelp } from '../config/help.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { CommandOutput } from './command-output.ts';
import { LineWriter } from './line-writer.ts';

const stdout = new LineWriter(process.stdout);
const stderr = new LineWriter(process.stderr);

const OUTPUT: CommandOutput = {
  print: (line) => stdout.write(`${line}\n`),
  complain: (line) => stderr.write(`${line}\n`),
};

/**
 * With one of these set, yaml's build for Node prints all that it reads, keys included. From source that is the one in use;
 * the binary has another (tsconfig.binary.json).
 */
const VARIABLES_OF_YAML = ['LOG_STREAM', 'LOG_TOKENS'];

/** Runs the command that `args` name and resolves with the exit code. */
export async function runCommand(runtime: Runtime, args: readonly string[]): Promise<number> {
  for (const name of VARIABLES_OF_YAML) delete process.env[name];
  const [first = 'serve', ...rest] = args;
  if (first === 'mock-engine') return (await import('./mock-engine.ts')).runMockEngine(rest, runtime, OUTPUT);
  if (first === 'bench' && rest[0] === 'child') return runTied(runtime, rest.slice(1));
  if (first === 'bench') return written(await (await import('./bench.ts')).runBench(rest, runtime, OUTPUT));
  if (first === 'state') return written(await (await import('./state.ts')).runState(rest, process.env, OUTPUT));
  if (first === 'help') return print(formatHelp().trimEnd());
  if (first !== 'serve' && !first.startsWith('-')) {
    OUTPUT.complain(`Unknown command "${first}": use serve, bench, state or mock-engine (hivenet-router --help)`);
    return 1;
  }
  const serveArgs = first === 'serve' ? rest : args;
  if (serveArgs.includes('--help') || serveArgs.includes('-h')) return print(formatHelp().trimEnd());
  if (serveArgs.includes('--version')) return print(`hivenet-router ${packageJson.version}`);
  const { runServe } = await import('./serve.ts');
  return runServe(runtime, serveArgs, { ...OUTPUT, stdout, stderr, version: packageJson.version });
}

/** For a process that `bench` starts: it ends with its standard input, also when `bench` is killed and can end nobody. */
function runTied(runtime: Runtime, args: readonly string[]): Promise<number> {
  process.stdin.once('close', () => process.exit(1)).resume();
  return runCommand(runtime, args);
}

function print(text: string): Promise<number> {
  OUTPUT.print(text);
  return written(0);
}

/** The exit code of a command that was asked for what it writes: 1, and a word, when that is lost. */
async function written(code: number): Promise<number> {
  await stdout.flushed();
  if (code !== 0 || stdout.dropped === 0) return code;
  OUTPUT.complain('Cannot write to stdout: the disk is full, or nobody reads it');
  return 1;
}
