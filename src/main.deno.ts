// Entry point on Deno, from source.

import process from 'node:process';
import { runCommand } from './cli/run-command.ts';
import { denoRuntime } from './runtime/deno.ts';

process.exitCode = await runCommand(denoRuntime, process.argv.slice(2));
