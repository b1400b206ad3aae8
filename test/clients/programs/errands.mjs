// What every client program on Bun and Node shares: reads its orders, runs each as one call of its client, all of them
// at once, and prints one line of JSON an outcome. See `test/clients/program.ts` for both shapes.

import { readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * `run(errand, orders)` resolves with `{ status, requestId, text }`. What it throws is an outcome too: with the status
 * and the text that the client shows its user, and without a status if there was no answer.
 */
export async function runErrands(run) {
  const orders = JSON.parse(readFileSync(process.argv.at(-1), 'utf8'));
  await Promise.all(
    orders.errands.map(async (errand) => {
      const outcome = await run(errand, orders).catch((error) => ({
        status: error.status ?? error.statusCode,
        requestId: error.headers?.get?.('x-request-id') ?? error.responseHeaders?.['x-request-id'],
        text: String(error.message),
      }));
      process.stdout.write(`${JSON.stringify({ id: errand.id, ...outcome })}\n`);
    }),
  );
}

/** The header by which the sites' logs tell whose requests they saw. */
export function markOf(errand) {
  return { 'x-request-id': errand.id };
}
