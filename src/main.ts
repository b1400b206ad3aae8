// Entry point on Bun, and of the compiled binary.

import process from 'node:process';
import { prepareEnvironment } from './runtime/bun-start.ts';

prepareEnvironment();

const [{ runCommand }, { bunRuntime }] = await Promise.all([
  import('./cli/run-command.ts'),
  import('./runtime/bun.ts'),
]);
process.exitCode = await runCommand(bunRuntime, process.argv.slice(2));
