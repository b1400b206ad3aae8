// Opens the sockets of `serve`, both or none.

import { hasValidHost } from '../http/host.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { Fetch, Listener, ListenSettings, Runtime } from '../runtime/runtime.ts';
import { listenFault } from './listen-fault.ts';

export interface Listeners {
  readonly http: Listener;
  readonly metrics: Listener;
}

export interface ListenersWanted {
  readonly http: Pick<ListenSettings, 'address' | 'tls' | 'fetch'>;
  readonly metrics: { readonly address: string; readonly fetch: Fetch };
}

/** A scrape has no body. */
const METRICS_BODY_MAX_BYTES = 1024;

/** The fault is one line that names the setting, the address and what the system said. */
export function openListeners(runtime: Runtime, wanted: ListenersWanted): Result<Listeners, string> {
  const metrics = open(runtime, '--metrics-port (HIVENET_ROUTER_METRICS_PORT)', {
    address: wanted.metrics.address,
    maxBodyBytes: METRICS_BODY_MAX_BYTES,
    fetch: metricsOnly(wanted.metrics.fetch),
  });
  if (!metrics.ok) return metrics;
  const http = open(runtime, '--http-port (HIVENET_ROUTER_HTTP_PORT)', {
    ...wanted.http,
  });
  if (http.ok) return ok({ http: http.value, metrics: metrics.value });
  metrics.value.abort();
  return http;
}

function metricsOnly(expose: Fetch): Fetch {
  return (request, connection) => {
    if (!hasValidHost(request)) return new Response('Bad Host header\n', { status: 400 });
    return new URL(request.url).pathname === '/metrics'
      ? expose(request, connection)
      : new Response('Not found: metrics are at /metrics\n', { status: 404 });
  };
}

function open(runtime: Runtime, setting: string, settings: ListenSettings): Result<Listener, string> {
  try {
    return ok(runtime.listen(settings));
  } catch (error) {
    return fault(`Cannot listen on "${settings.address}" from ${setting}: ${listenFault(error)}`);
  }
}
