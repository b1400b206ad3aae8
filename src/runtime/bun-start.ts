// What has to be right in the environment before anything else is loaded: Bun queues fetches silently beyond 256 at a
// time (bun.md, fact 1), and sends them through whatever proxy the environment names.

import process from 'node:process';

const LIMIT = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/**
 * Rules proxies out, and replaces the process by itself with the limit raised unless one is set: Bun reads it before any
 * code runs. Throws where that is impossible.
 */
export function prepareEnvironment(): void {
  // Read at each fetch. An engine is reached directly: a proxy for the machine's other traffic is no place for prompts.
  process.env['NO_PROXY'] = '*';
  process.env['no_proxy'] = '*';
  if (process.env[LIMIT] !== undefined) return;
  const isCompiled = Bun.main.startsWith('/$bunfs/');
  const args = isCompiled ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, [LIMIT]: '65535' } as Record<string, string>;
  process.execve?.(process.execPath, [process.execPath, ...args], env);
  throw new Error(`Cannot raise the limit of concurrent requests: set ${LIMIT}=65535 in the environment`);
}
