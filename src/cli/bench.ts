// The `bench` command: options, the processes that it starts and always ends, and what it prints. `bench load` is the load
// process that it starts.

import process from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import { type Child, selfCommand } from '../bench/child.ts';
import { runLoadProcess } from '../bench/load-process.ts';
import { BENCH_HELP, type BenchOptions, readBenchOptions } from '../bench/options.ts';
import { formatFindings } from '../bench/report.ts';
import { measureMachine } from '../bench/run-bench.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { CommandOutput } from './command-output.ts';

/** Of a shell for a program that SIGINT ended. */
const INTERRUPTED = 130;

/** Resolves with the exit code: 0 when everything was measured, 1 for bad options or a failure, 130 after a signal. */
export async function runBench(args: readonly string[], runtime: Runtime, output: CommandOutput): Promise<number> {
  if (args.length === 1 && args[0] === 'load') {
    return runLoad(output);
  }
  const options = readBenchOptions(args);
  if (!options.ok) {
    for (const mistake of options.fault) output.complain(mistake);
    return 1;
  }
  if (options.value === 'help') {
    output.print(BENCH_HELP);
    return 0;
  }
  if (runtime.name !== 'bun') {
    output.complain('bench measures the compiled binary: run dist/hivenet-router bench');
    return 1;
  }
  return measure(options.value, output);
}

async function runLoad(output: CommandOutput): Promise<number> {
  try {
    await runLoadProcess(process.stdin, output.print);
    return 0;
  } catch (error) {
    output.complain(`Cannot run a job: ${error instanceof Error ? error.message : String(error)}`);
    // Whoever waits for an outcome holds it open.
    process.stdin.destroy();
    return 1;
  }
}

async function measure(options: BenchOptions, output: CommandOutput): Promise<number> {
  const children: Child[] = [];
  const ports = {
    version: packageJson.version,
    self: selfCommand(),
    started: (child: Child) => void children.push(child),
    progress: output.complain,
  };
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve('interrupted'));
  });
  try {
    const findings = await Promise.race([measureMachine(options, ports), interrupted]);
    if (findings === 'interrupted') return INTERRUPTED;
    output.print(options.isJson ? JSON.stringify(findings, undefined, 2) : formatFindings(findings));
    return findings.loads.some(({ failed }) => failed > 0) ? 1 : 0;
  } catch (error) {
    output.complain(`Cannot measure: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
}
