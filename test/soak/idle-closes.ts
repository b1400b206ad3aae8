// Sixty-four clients that ask about as often as the engine's keep-alive timeout of 5 s, as uvicorn has it.

import { askAroundClose, startIdleClosingEngine } from '../support/idle-closing-engine.ts';
import { startRouter, untilServing } from '../support/router-process.ts';

const IDLE_MS = 5_000;
const DURATION_MS = 60_000;
const CLIENTS = 64;

export async function idleCloses(): Promise<string> {
  const engine = await startIdleClosingEngine(IDLE_MS);
  // All clients begin at once: they may wait for one another.
  const router = await startRouter(['--queue-depth', String(CLIENTS), '--engine', engine.setting]);
  try {
    await untilServing(router, ['idle']);
    const { asked, bad } = await askAroundClose(router.url, {
      idleMs: IDLE_MS,
      durationMs: DURATION_MS,
      clients: CLIENTS,
    });
    if (bad.length > 0) throw new Error(`${bad.length} of ${asked} requests failed: ${bad.join(' ')}`);
    return `${asked} requests, ${engine.crossings()} of them crossed a close`;
  } finally {
    await router.kill();
    engine.close();
  }
}
