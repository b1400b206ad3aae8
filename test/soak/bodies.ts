// A thousand bodies of 10 MB at once, a quarter of what `--body-memory` allows of them in flight: the others are refused
// at once, and the router's memory stays in proportion (R-218, T-42).

import { eventually } from '../support/eventually.ts';
import { memoryMb } from '../support/memory.ts';
import { RawConnection } from '../support/raw-connection.ts';
import {
  engineFlags,
  manyAgents,
  metricOf,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';

const BODIES = 1000;
const BODY_BYTES = 10_000_000;
/** A quarter of the default, in bytes and in MB. */
const BODY_MEMORY = 67_108_864;
const BODY_MEMORY_MB = 64;
/** What the runtime and a garbage collector hold besides, as a multiple of the bodies. */
const MEMORY_FACTOR = 8;
const PATIENCE_MS = 60_000;
const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;

export async function manyBodies(): Promise<string> {
  const engine = await startEngine({ name: 'bodies', models: ['bodies'] });
  const router = await startRouter(['--body-memory', String(BODY_MEMORY), ...engineFlags(manyAgents(engine, 2))]);
  try {
    await untilServing(router, ['bodies']);
    const body = bodyBytes();
    const watch = watchMemory(router);
    const connections = await Promise.all(Array.from({ length: BODIES }, () => RawConnection.open(router.url)));
    // All heads before the first body, or the last ones would come too late for any server.
    for (const connection of connections) connection.send(HEAD);
    const statuses = await Promise.all(connections.map((connection) => send(connection, body)));
    const peakMb = await watch.stop();
    const served = statuses.filter((status) => status === 200).length;
    const refused = statuses.filter((status) => status === 503).length;
    if (served === 0 || served + refused !== BODIES) throw new Error(`${served} served, ${refused} refused`);
    await eventually(
      'nothing is held',
      async () => (await metricOf(router, 'hivenet_router_body_bytes')) === 0 || undefined,
    );
    const told = `${served} served, ${refused} refused, at most ${peakMb.toFixed(0)} MB resident`;
    if (peakMb > BODY_MEMORY_MB * MEMORY_FACTOR) throw new Error(told);
    return told;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}

/** One body for all connections: they share its bytes. */
function bodyBytes(): Uint8Array {
  const shell = JSON.stringify({ model: 'bodies', messages: [{ role: 'user', content: '' }], max_tokens: 1 });
  return Buffer.from(shell.replace('""', `"${'a'.repeat(BODY_BYTES - shell.length)}"`));
}

async function send(connection: RawConnection, body: Uint8Array): Promise<number> {
  connection.send(body);
  const text = await connection.until((received) => received.includes('\r\n\r\n'), PATIENCE_MS);
  connection.leave();
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
}

function watchMemory(router: { readonly pid: number }): { stop(): Promise<number> } {
  let peakMb = 0;
  const look = async (): Promise<void> => {
    peakMb = Math.max(peakMb, await memoryMb(router));
  };
  const timer = setInterval(() => void look(), 50);
  return {
    stop: async () => {
      clearInterval(timer);
      await look();
      return peakMb;
    },
  };
}
