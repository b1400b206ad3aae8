// An engine in this process whose answers a test writes itself, for a router in another one: what no mock engine does.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CustomEngine {
  /** The value of `--engine`. */
  readonly setting: string;
  /** Requests whose answer is under way. */
  readonly running: () => number;
  close(): void;
}

/** Lists `model`, and gives every POST to `answer`. */
export async function startCustomEngine(
  model: string,
  answer: (response: ServerResponse, body: Buffer) => void,
): Promise<CustomEngine> {
  let running = 0;
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ object: 'list', data: [{ id: model, object: 'model' }] }));
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      running += 1;
      response.on('close', () => {
        running -= 1;
      });
      answer(response, Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    setting: `custom=http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    running: () => running,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
