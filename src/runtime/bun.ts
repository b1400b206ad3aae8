// Bun behind the Runtime interface.

import type { Server } from 'bun';
import { parseListenAddress } from '../lib/listen-address.ts';
import type { Connection, Listener, ListenSettings, Runtime } from './runtime.ts';

/** Seconds an idle connection lives; also bounds a header or body that stops arriving (Bun allows at most 255). */
const IDLE_SECONDS = 120;

/** How often a stopping listener is asked for its requests; Bun has no event for it. */
const STOP_POLL_MS = 20;

function listen(settings: ListenSettings): Listener {
  const address = parseListenAddress(settings.address);
  if (!address.ok) throw new Error(address.fault);
  const server = Bun.serve({
    port: address.value.port,
    ...(address.value.hostname === undefined ? {} : { hostname: address.value.hostname }),
    ...(settings.tls === undefined ? {} : { tls: { cert: settings.tls.cert, key: settings.tls.key } }),
    development: false,
    // `development: false` would turn it on, and two routers with two ledgers would share one port unseen.
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: settings.maxBodyBytes ?? Number.MAX_SAFE_INTEGER,
    fetch: (request: Request, bunServer: Server<undefined>) =>
      settings.fetch(request, connectionOf(request, bunServer)),
  });
  const port = server.port ?? 0;
  const scheme = settings.tls === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${urlHost(address.value.hostname)}:${port}`,
    port,
    stop: () => Promise.race([server.stop(), noRequestLeft(server)]),
    abort: () => void server.stop(true),
  };
}

/**
 * Resolves when the last byte of the last answer has been sent. `stop()` alone would wait for TLS connections that clients
 * keep without a request, and for half a request head.
 */
function noRequestLeft(server: Server<undefined>): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (server.pendingRequests === 0) resolve();
      else setTimeout(look, STOP_POLL_MS);
    };
    look();
  });
}

function connectionOf(request: Request, server: Server<undefined>): Connection {
  return {
    get remoteAddress() {
      return server.requestIP(request)?.address ?? '';
    },
    allowSilence: () => server.timeout(request, 0),
    endSilence: () => server.timeout(request, IDLE_SECONDS),
  };
}

function urlHost(hostname: string | undefined): string {
  if (hostname === undefined) return 'localhost';
  return hostname.includes(':') ? `[${hostname}]` : hostname;
}

/**
 * `decompress: false` keeps an engine's bytes and its Content-Encoding in step; `timeout: false` leaves the time
 * limits to the router (bun.md, facts 3 and 8).
 */
export const bunRuntime: Runtime = {
  name: 'bun',
  listen,
  engineFetchInit: { decompress: false, timeout: false } as RequestInit,
};
