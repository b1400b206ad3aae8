// A program of its own: an engine whose events say when they were sent, so that a client sees what the way has added.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

/** Five a second, for ten seconds. */
const EVENTS = 50;
const PERIOD_MS = 200;

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const send = (): void => {
    response.write(`data: {"number":${sent},"at":${performance.timeOrigin + performance.now()}}\n\n`);
    sent += 1;
    if (sent < EVENTS) return;
    clearInterval(timer);
    response.end('data: [DONE]\n\n');
  };
  const timer = setInterval(send, PERIOD_MS);
  response.on('close', () => clearInterval(timer));
  send();
}

const server = createServer((request, response) => {
  request.resume();
  if (request.method === 'GET') response.end(JSON.stringify({ object: 'list', data: [{ id: 'timed' }] }));
  else request.on('end', () => stream(response));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
});
