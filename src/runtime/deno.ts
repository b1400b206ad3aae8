// Deno behind the Runtime interface. It declares the few members of `Deno` it uses, so that tsc needs no Deno types.

import { parseListenAddress } from '../lib/listen-address.ts';
import type { Connection, Listener, ListenSettings, Runtime } from './runtime.ts';

interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

interface ServeSettings {
  readonly port: number;
  readonly hostname?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly signal: AbortSignal;
  readonly onListen: () => void;
}

interface ServeInfo {
  readonly remoteAddr: { readonly hostname?: string };
}

declare const Deno: {
  serve(
    settings: ServeSettings,
    fetch: (request: Request, info: ServeInfo) => Response | Promise<Response>,
  ): DenoServer;
};

function listen(settings: ListenSettings): Listener {
  const address = parseListenAddress(settings.address);
  if (!address.ok) throw new Error(address.fault);
  const aborter = new AbortController();
  const server = Deno.serve(
    {
      port: address.value.port,
      hostname: address.value.hostname ?? '::',
      ...(settings.tls ?? {}),
      signal: aborter.signal,
      onListen: () => undefined,
    },
    (request, info) => settings.fetch(request, connectionOf(info)),
  );
  let isOver = false;
  void server.finished.then(() => {
    isOver = true;
  });
  const scheme = settings.tls === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${address.value.hostname ?? 'localhost'}:${server.addr.port}`,
    port: server.addr.port,
    renew: () => Promise.reject(new Error('Deno cannot hand a port over: restart the router instead')),
    stop: async () => {
      await server.shutdown();
      isOver = true;
    },
    // Aborting a server that has ended throws.
    abort: () => {
      if (!isOver) aborter.abort();
    },
  };
}

/** Deno cuts no silent connection by itself (bun.md, D (v)), so there is no timeout to hold off or to arm. */
function connectionOf(info: ServeInfo): Connection {
  return {
    remoteAddress: info.remoteAddr.hostname ?? '',
    allowSilence: () => undefined,
    endSilence: () => undefined,
    closeSoon: () => undefined,
  };
}

export const denoRuntime: Runtime = { name: 'deno', listen, engineFetchInit: {} };
