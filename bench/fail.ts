// How a command of `make` ends when what it was asked for cannot be done.

import process from 'node:process';

/** One line and exit code 1. */
export function fail(why: string): never {
  console.error(why);
  process.exit(1);
}
