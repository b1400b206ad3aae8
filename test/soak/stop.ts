// A stream that needs longer than the default grace of a stop.

import { postText, RawConnection } from '../support/raw-connection.ts';
import { engineFlags, startEngine, startRouter, untilServing } from '../support/router-process.ts';

const STREAM_S = 35;
/** The default of `--shutdown-grace`. */
const GRACE_S = 30;
const PER_SECOND = 5;

export async function graceEnds(): Promise<string> {
  const args = ['--tokens-per-second', String(PER_SECOND)];
  const engine = await startEngine({ name: 'steady', models: ['chat'], args });
  const router = await startRouter(engineFlags([engine]));
  try {
    await untilServing(router, ['chat']);
    const connection = await RawConnection.open(router.url);
    const tokens = STREAM_S * PER_SECOND;
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = { model: 'chat', messages, stream: true, min_tokens: tokens, max_tokens: tokens };
    connection.send(postText(router.url, '/v1/chat/completions', body));
    await connection.until((text) => text.includes('data: '));
    const startedMs = performance.now();
    router.signal('SIGTERM');
    const text = await connection.closed((GRACE_S + 5) * 1000);
    const seconds = (performance.now() - startedMs) / 1000;
    const code = await router.ended;
    if (!/"code":"backend_unavailable"[^\n]*\n\n/.test(text) || text.includes('[DONE]'))
      throw new Error(text.slice(-300));
    if (seconds < GRACE_S || code !== 0) throw new Error(`ended after ${seconds.toFixed(1)} s with code ${code}`);
    return `error event after ${seconds.toFixed(1)} s, ${text.split('"content":" ').length - 1} tokens, exit code 0`;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}
