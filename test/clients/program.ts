// Runs a client as a program of its own: writes down its orders, starts it with the file as last argument, and reads an
// outcome from each line.

import { BARE_ENV, start } from '../support/child-process.ts';
import type { Ground } from '../support/sites.ts';
import type { CallName } from './calls.ts';

/** One call that a client should make. */
export interface Errand {
  /** UUID that the client sends as `X-Request-ID`: the sites' logs then tell whose requests they saw. */
  readonly id: string;
  readonly call: CallName;
  /** Path and query. */
  readonly path: string;
  readonly body: object;
}

export interface Orders {
  /** `https://HOST:PORT` of the only site that the client knows. */
  readonly origin: string;
  readonly key: string;
  readonly caFile: string;
  /** `HOST:PORT` of every site, for a client that has to be told where names lead. */
  readonly resolve: readonly string[];
  readonly errands: readonly Errand[];
}

/** What came of one errand, as the client's user sees it. */
export interface Outcome {
  readonly id: string;
  /** Undefined when there was no answer. */
  readonly status?: number;
  readonly requestId?: string | null;
  /** The answer, or the client's own message. */
  readonly text: string;
}

/** Throws with what the program printed when it does not do all its errands. */
export async function runProgram(
  command: readonly string[],
  orders: Orders,
  ground: Ground,
): Promise<readonly Outcome[]> {
  const file = ground.write(`orders-${crypto.randomUUID()}.json`, JSON.stringify(orders));
  const env = { ...BARE_ENV, NODE_EXTRA_CA_CERTS: orders.caFile, NO_PROXY: '*', no_proxy: '*' };
  const { ended, stdout, stderr } = start([...command, file], env);
  const code = await ended;
  if (code !== 0 || stdout.length !== orders.errands.length)
    throw new Error(`${command.join(' ')} ended with ${code}:\n${[...stderr, ...stdout].join('\n').slice(0, 4000)}`);
  return stdout.map((line) => JSON.parse(line) as Outcome);
}
