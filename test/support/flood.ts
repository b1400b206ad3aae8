// An engine that sends as fast as it is read, and a client that reads when it likes: what the router keeps in between.

import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startCustomEngine } from './custom-engine.ts';
import { memoryMb } from './memory.ts';
import { postText } from './raw-connection.ts';
import { type RouterProcess, startRouter, untilServing } from './router-process.ts';

/** One event of 100,000 bytes. */
const EVENT = Buffer.from(`data: ${'x'.repeat(99_992)}\n\n`);
/** 200 MB. */
const EVENTS = 2000;

export interface Flood {
  readonly router: RouterProcess;
  /** Bytes that the engine has got rid of in its last stream. */
  readonly sent: () => number;
  /** A client that has asked for the stream and reads nothing until it is resumed. */
  ask(): Promise<Socket>;
  /** How much the router's memory has grown since the flood was made. */
  growthMb(): Promise<number>;
  close(): Promise<void>;
}

export async function startFlood(): Promise<Flood> {
  let sent = 0;
  const engine = await startCustomEngine('flood', (response) => {
    sent = 0;
    pour(response, () => {
      sent += EVENT.byteLength;
    });
  });
  const router = await startRouter(['--engine', engine.setting]);
  await untilServing(router, ['flood']);
  const beforeMb = await memoryMb(router);
  return {
    router,
    sent: () => sent,
    growthMb: async () => (await memoryMb(router)) - beforeMb,
    ask: async () => {
      const socket = connect(Number(new URL(router.url).port), '127.0.0.1');
      socket.pause();
      socket.on('error', () => socket.destroy());
      socket.write(postText(router.url, '/v1/chat/completions', { model: 'flood', messages: [], stream: true }));
      return socket;
    },
    close: async () => {
      await router.kill();
      engine.close();
    },
  };
}

/** Writes all events as fast as they are taken. */
function pour(response: ServerResponse, onSent: () => void): void {
  let left = EVENTS;
  const fill = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      onSent();
      if (!response.write(EVENT)) return;
    }
    if (!response.destroyed) response.end('data: [DONE]\n\n');
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.on('drain', fill);
  fill();
}

/** Bytes of the body of {@link EVENTS} events, without their framing. */
export const FLOOD_BYTES = EVENTS * EVENT.byteLength;
