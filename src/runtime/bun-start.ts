// Bun reads its limit on concurrent fetches from the environment before any code runs, and queues silently beyond 256
// of them (bun.md, fact 1). Apart from bun.ts, so that nothing else is loaded before the process replaces itself.

import process from 'node:process';

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/** Replaces the process by itself with the limit raised, unless it is set already. Throws where that cannot be done. */
export function raiseRequestLimit(): void {
  if (process.env[LIMIT] !== undefined) return;
  const isCompiled = Bun.main.startsWith('/$bunfs/');
  const args = isCompiled ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, [LIMIT]: '65535' } as Record<string, string>;
  process.execve?.(process.execPath, [process.execPath, ...args], env);
  throw new Error(`Cannot raise the limit of concurrent requests: set ${LIMIT}=65535 in the environment`);
}
