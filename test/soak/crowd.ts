// A thousand streams through one router, all open at the same time, and all of them whole.

import { eventually } from '../support/eventually.ts';
import { postText, RawConnection } from '../support/raw-connection.ts';
import {
  engineFlags,
  manyAgents,
  runningRequests,
  startEngine,
  startRouter,
  untilHealthy,
} from '../support/router-process.ts';

const STREAMS = 1000;
/** Slots of one agent. */
const CAPACITY = 10;
const PATIENCE_MS = 30_000;
const ASK = {
  model: 'crowd',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
  min_tokens: 40,
  max_tokens: 40,
};

export async function crowdOfStreams(): Promise<string> {
  // Long enough before the first token for the last stream to join the first one.
  const args = ['--ttft', '3s', '--tokens-per-second', '10'];
  const engine = await startEngine({ name: 'crowd', models: ['crowd'], args });
  const agents = manyAgents(engine, STREAMS / CAPACITY);
  const router = await startRouter(engineFlags(agents));
  try {
    await untilHealthy(router, 'crowd', agents.length);
    const startedMs = performance.now();
    const connections = await Promise.all(Array.from({ length: STREAMS }, () => RawConnection.open(router.url)));
    for (const connection of connections) connection.send(postText(router.url, '/v1/chat/completions', ASK));
    await Promise.all(
      connections.map((connection) => connection.until((text) => text.includes('data: {'), PATIENCE_MS)),
    );
    const firstByteMs = performance.now() - startedMs;
    const atOnce = await runningRequests(engine);
    if (atOnce !== STREAMS) throw new Error(`the engine worked on ${atOnce} at once`);
    const texts = await Promise.all(
      connections.map((connection) => connection.until((text) => text.includes('data: [DONE]'), PATIENCE_MS)),
    );
    const whole = texts.filter((text) => text.split('"content":" ').length === ASK.max_tokens);
    if (whole.length !== STREAMS) throw new Error(`${STREAMS - whole.length} streams were not whole`);
    for (const connection of connections) connection.leave();
    await eventually('the engine is free', async () => (await runningRequests(engine)) === 0 || undefined);
    return `every first byte within ${Math.round(firstByteMs)} ms, the engine takes 3000 for it`;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}
