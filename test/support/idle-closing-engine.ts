// An engine that closes a kept connection after some idle time, as uvicorn does after 5 s: under load, requests and closes
// cross on the wire.

import { type AddressInfo, createServer, type Socket } from 'node:net';

const LISTING = JSON.stringify({ object: 'list', data: [{ id: 'idle', object: 'model' }] });
const ANSWER = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hello' } }] });

/** Between two machines a close takes its time; on loopback hardly any request would cross it. */
const WIRE_MS = 3;

export interface IdleClosingEngine {
  readonly setting: string;
  /** Connections that it closed with a request already under way to it. */
  readonly crossings: () => number;
  readonly close: () => void;
}

/** Lists the model `idle`. A request that arrives after the close is lost, as at a real engine. */
export async function startIdleClosingEngine(idleMs: number): Promise<IdleClosingEngine> {
  const sockets = new Set<Socket>();
  let crossings = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    let isClosing = false;
    let closer: NodeJS.Timeout | undefined;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(closer);
      sockets.delete(socket);
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (isClosing) {
        crossings += 1;
        socket.resetAndDestroy();
        return;
      }
      clearTimeout(closer);
      received += text;
      if (!isWhole(received)) return;
      const body = received.startsWith('POST') ? ANSWER : LISTING;
      received = '';
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      closer = setTimeout(() => {
        isClosing = true;
        closer = setTimeout(() => socket.end(), WIRE_MS);
      }, idleMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    setting: `custom=http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    crossings: () => crossings,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(request)?.[1] ?? 0);
  return end !== -1 && request.length >= end + 4 + length;
}

interface AskingPlan {
  readonly idleMs: number;
  readonly durationMs: number;
  readonly clients: number;
}

/**
 * Clients that each ask, wait about as long as the engine keeps a connection, and ask again, until `durationMs` is over:
 * the number of requests and the statuses that were not 200.
 */
export async function askAroundClose(url: string, { idleMs, durationMs, clients }: AskingPlan) {
  const endMs = performance.now() + durationMs;
  const bad: number[] = [];
  let asked = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const body = JSON.stringify({ model: 'idle', messages: [] });
      const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
      await answer.arrayBuffer();
      asked += 1;
      if (answer.status !== 200) bad.push(answer.status);
      await new Promise((resolve) => setTimeout(resolve, idleMs + (Math.random() - 0.5) * 6));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { asked, bad };
}
