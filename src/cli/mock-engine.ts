// The `mock-engine` command: settings, a listener, and an end by signal.

import process from 'node:process';
import { createMockEngine } from '../mock-engine/app.ts';
import { seededNumbers } from '../mock-engine/chance.ts';
import { mockEngineHelp, readMockEngineSettings } from '../mock-engine/read-settings.ts';
import type { MockEnginePorts } from '../mock-engine/running-request.ts';
import type { MockEngineSettings } from '../mock-engine/settings.ts';
import type { Listener, Runtime } from '../runtime/runtime.ts';
import type { CommandOutput } from './command-output.ts';
import { listenFault } from './listen-fault.ts';

/** Larger than the 10 MiB that a router lets through. */
const BODY_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Runs until SIGTERM or SIGINT. Resolves with the exit code: 0 after a signal or `--help`, 1 for bad flags or an address
 * that cannot be had.
 */
export async function runMockEngine(args: readonly string[], runtime: Runtime, output: CommandOutput): Promise<number> {
  const settings = readMockEngineSettings(args);
  if (!settings.ok) {
    for (const mistake of settings.fault) output.complain(mistake);
    return 1;
  }
  if (settings.value === 'help') {
    output.print(mockEngineHelp());
    return 0;
  }
  const listener = listen(settings.value, runtime, output);
  if (listener === undefined) return 1;
  output.print(`listening mock-engine ${listener.url}`);
  await untilSignal();
  listener.abort();
  return 0;
}

function listen(settings: MockEngineSettings, runtime: Runtime, output: CommandOutput): Listener | undefined {
  const { fetch } = createMockEngine(settings, systemPorts(settings.name));
  try {
    return runtime.listen({ address: settings.address, maxBodyBytes: BODY_MAX_BYTES, fetch });
  } catch (error) {
    output.complain(`Cannot listen on "${settings.address}" from --port: ${listenFault(error)}`);
    return undefined;
  }
}

/** Failures fall the same way for every engine of that name. The clock does not jump when the machine's is set. */
function systemPorts(name: string): MockEnginePorts {
  return { nowMs: () => performance.timeOrigin + performance.now(), sleep, chance: seededNumbers(name) };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve());
  });
}
