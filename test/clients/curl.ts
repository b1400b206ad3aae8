// curl, one process an errand. Names below `localhost` are told to it with --resolve.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../support/child-process.ts';
import type { Ground } from '../support/sites.ts';
import type { Errand, Orders, Outcome } from './program.ts';

/** Runs the errands one after the other. */
export async function runCurl(flags: readonly string[], orders: Orders, ground: Ground): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const errand of orders.errands) outcomes.push(await runOne(flags, orders, errand, ground));
  return outcomes;
}

async function runOne(flags: readonly string[], orders: Orders, errand: Errand, ground: Ground): Promise<Outcome> {
  const { id } = errand;
  // In files, because arguments have a length and everybody can read them.
  const headers = ground.write(
    `curl-headers-${id}`,
    `Authorization: Bearer ${orders.key}\nContent-Type: application/json\nX-Request-ID: ${id}\n`,
  );
  const body = ground.write(`curl-body-${id}`, JSON.stringify(errand.body));
  const answered = join(ground.folder, `curl-answered-${id}`);
  const fixed = ['-sS', '--cacert', orders.caFile, '-H', `@${headers}`, '-D', answered];
  const ended = await run([
    'curl',
    ...fixed,
    ...orders.resolve.flatMap((host) => ['--resolve', `${host}:127.0.0.1`]),
    ...flags,
    '--data-binary',
    `@${body}`,
    '-w',
    '\n%{http_code}',
    orders.origin + errand.path,
  ]);
  const text = ended.stdout.slice(0, -1).join('\n');
  if (ended.code !== 0) return { id, text: ended.stderr.join('\n') };
  const requestIds = [...readFileSync(answered, 'utf8').matchAll(/^x-request-id: (\S+)/gim)];
  return { id, status: Number(ended.stdout.at(-1)), requestId: requestIds.at(-1)?.[1] ?? null, text };
}
