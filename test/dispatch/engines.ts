// Engines for the tests of dispatch: HTTP servers in this process whose answers each test writes itself.

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';

/** A request as an engine saw it. */
interface SeenRequest {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Resolves when the router closes the connection before the answer is complete. */
  readonly abandoned: Promise<void>;
}

export interface Engine {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Resolves with the request that arrives next. */
  readonly nextRequest: () => Promise<SeenRequest>;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

const running: (Server | TcpServer)[] = [];

/** An engine on a free port that answers every request with `answer`. */
export async function startEngine(answer: Answer): Promise<Engine> {
  const seen: SeenRequest[] = [];
  const waiting: ((request: SeenRequest) => void)[] = [];
  const server = createServer((message, response) => {
    const abandoned = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method, url: target, headers } = message;
      const request = { method, target, headers, body: Buffer.concat(chunks), abandoned };
      seen.push(request);
      answer(response, request);
      waiting.shift()?.(request);
    });
  });
  const url = await listening(server);
  return { url, seen, nextRequest: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** An engine that answers each connection's first bytes with `answer`, told how many connections came before. */
export async function startRawEngine(answer: (socket: Socket, index: number) => void): Promise<Engine> {
  let connections = 0;
  const server = createTcpServer((socket) => {
    const index = connections;
    connections += 1;
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket, index));
  });
  const url = await listening(server);
  return { url, seen: [], nextRequest: () => Promise.reject(new Error('A raw engine reads no requests')) };
}

/** A URL at which nobody listens. */
export async function deadUrl(): Promise<string> {
  const server = createTcpServer();
  const url = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

/** Closes every engine with its connections; for `afterEach`. */
export function stopEngines(): void {
  for (const server of running.splice(0)) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  }
}

async function listening(server: Server | TcpServer): Promise<string> {
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The engine has no port');
  return `http://127.0.0.1:${address.port}`;
}

/** Answers with a JSON document. */
export function json(status: number, document: unknown, headers: Record<string, string> = {}): Answer {
  return bytes(status, JSON.stringify(document), { 'content-type': 'application/json', ...headers });
}

/** Answers with a body of known length. */
export function bytes(status: number, body: string | Buffer, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
    response.end(body);
  };
}

/** Sends the head of a stream and keeps it open; `started` resolves with what writes to it. */
export function openStream(headers: Record<string, string> = { 'content-type': 'text/event-stream' }) {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const answer: Answer = (response) => {
    response.writeHead(200, headers);
    response.flushHeaders();
    resolve(response);
  };
  return { answer, started: promise };
}

/** Never answers. */
export const silent: Answer = () => undefined;
