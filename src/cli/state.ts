// The `state` command: takes out of a state directory what a router must not restore, such as a sibling map whose
// version no push can follow (T-29). For a router that is not running; a running one holds its directory.

import { parseArgs } from 'node:util';
import { LIMIT_SETTINGS } from '../config/limit-settings.ts';
import { nameOf } from '../config/setting.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { openState } from '../state/open-state.ts';
import type { State } from '../state/state.ts';
import type { CommandOutput } from './command-output.ts';

const RESETS: ReadonlyMap<string, (state: State) => void> = new Map([
  ['map', (state: State) => state.deleteDocument('map')],
  ['keys', (state: State) => state.deleteDocument('keys')],
  ['all', resetAll],
]);

const { stateDir } = LIMIT_SETTINGS;

const USAGE = 'hivenet-router state reset map|keys|all --state-dir DIR';

/** `args` is what stands behind `state`. Returns the exit code. */
export function runState(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { print, complain }: CommandOutput,
): number {
  const asked = readArguments(args, env);
  const done = asked.ok ? reset(asked.value) : asked;
  if (!done.ok) {
    complain(done.fault);
    return 1;
  }
  for (const line of done.value) print(line);
  return 0;
}

interface Asked {
  readonly what: string;
  readonly forget: (state: State) => void;
  readonly directory: string;
}

function readArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Result<Asked, string> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { 'state-dir': { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  const [verb, what = '', ...more] = positionals;
  const forget = RESETS.get(what);
  const isKnown = Object.keys(values).every((name) => name === 'state-dir');
  if (verb !== 'reset' || forget === undefined || more.length > 0 || !isKnown) return fault(`Usage: ${USAGE}`);
  const directory = values['state-dir'] ?? env[stateDir.variable];
  if (typeof directory !== 'string' || directory === '') {
    return fault(`${nameOf(stateDir)}: needed, for example ${USAGE.replace('DIR', stateDir.example)}`);
  }
  return ok({ what, forget, directory });
}

function reset({ what, forget, directory }: Asked): Result<readonly string[], string> {
  const opened = openState(directory);
  if (!opened.ok) return opened;
  const { state, isKept, troubles } = opened.value;
  try {
    if (!isKept) return fault(troubles.join('; '));
    forget(state);
  } catch (error) {
    return fault(`Cannot reset ${what} in "${directory}": ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    state.close();
  }
  return ok([...troubles, `reset ${what} in ${directory}`]);
}

function resetAll(state: State): void {
  state.deleteDocument('map');
  state.deleteDocument('keys');
  state.deleteCounters();
}
