// A proxy in this process, in front of an engine or of a site: it notes every request that passes, and fails those that
// it is told to fail.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Identity } from './authority.ts';

/** A request as it arrived. */
export interface TappedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface TapSettings {
  /** URL of what stands behind; asked for each request. */
  readonly behind: () => string;
  /** PEM certificate to trust when `behind` is an `https:` URL. */
  readonly ca?: string;
  /** With it the tap speaks TLS. */
  readonly identity?: Identity;
  /** A status to answer instead, or `close` to close the connection without an answer. */
  readonly fails?: (request: TappedRequest) => number | 'close' | undefined;
}

export interface Tap {
  readonly port: number;
  /** Everything that came, in order. */
  readonly seen: readonly TappedRequest[];
  close(): void;
}

/** What a tap says when it fails a request. */
export const TAP_FAILURE = 'The tap fails this request.';

/** Starts a tap on a free loopback port. */
export async function startTap(settings: TapSettings): Promise<Tap> {
  const seen: TappedRequest[] = [];
  const handle = (message: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url: target = '', headers } = message;
      const request = { method, target, headers, body: new Uint8Array(Buffer.concat(chunks)) };
      seen.push(request);
      answer(settings, request, response).catch(() => response.destroy());
    });
  };
  const server = settings.identity === undefined ? createServer(handle) : createTlsServer(settings.identity, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, seen, close };
}

async function answer(settings: TapSettings, request: TappedRequest, response: ServerResponse): Promise<void> {
  const failure = settings.fails?.(request);
  if (failure === 'close') {
    response.destroy();
    return;
  }
  if (failure !== undefined) {
    const error = { type: 'api_error', code: 'tapped', message: TAP_FAILURE };
    response.writeHead(failure, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
    return;
  }
  const passed = await passOn(settings, request);
  response.writeHead(passed.status, Object.fromEntries(passed.headers));
  for await (const chunk of passed.body ?? []) response.write(chunk);
  response.end();
}

function passOn({ behind, ca }: TapSettings, request: TappedRequest): Promise<Response> {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  return fetch(behind() + request.target, {
    method: request.method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ...(request.method === 'POST' ? { body: request.body } : {}),
    redirect: 'manual',
    decompress: false,
    ...(ca === undefined ? {} : { tls: { ca } }),
  });
}
