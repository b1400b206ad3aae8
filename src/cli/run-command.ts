// Picks the command. `serve` is the default, so that a systemd unit needs the binary's path and nothing else.

import process from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import { formatHelp } from '../config/help.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { runBench } from './bench.ts';
import type { CommandOutput } from './command-output.ts';
import { LineWriter } from './line-writer.ts';
import { runMockEngine } from './mock-engine.ts';
import { runServe } from './serve.ts';
import { runState } from './state.ts';

const stdout = new LineWriter(process.stdout);
const stderr = new LineWriter(process.stderr);

const OUTPUT: CommandOutput = {
  print: (line) => stdout.write(`${line}\n`),
  complain: (line) => stderr.write(`${line}\n`),
};

/** Runs the command that `args` name and resolves with the exit code. */
export async function runCommand(runtime: Runtime, args: readonly string[]): Promise<number> {
  const [first = 'serve', ...rest] = args;
  if (first === 'mock-engine') return runMockEngine(rest, runtime, OUTPUT);
  if (first === 'bench') return runBench(rest, runtime, OUTPUT);
  if (first === 'state') return runState(rest, process.env, OUTPUT);
  if (first === 'help') return print(formatHelp().trimEnd());
  if (first !== 'serve' && !first.startsWith('-')) {
    OUTPUT.complain(`Unknown command "${first}": use serve, bench, state or mock-engine (hivenet-router --help)`);
    return 1;
  }
  const serveArgs = first === 'serve' ? rest : args;
  if (serveArgs.includes('--help') || serveArgs.includes('-h')) return print(formatHelp().trimEnd());
  if (serveArgs.includes('--version')) return print(`hivenet-router ${packageJson.version}`);
  return runServe(runtime, serveArgs, { ...OUTPUT, stdout, stderr, version: packageJson.version });
}

function print(text: string): number {
  OUTPUT.print(text);
  return 0;
}
