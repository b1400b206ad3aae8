// The listen address as Go writes it, `host:port` with an optional host, so that settings of the Go router carry over.

import { fault, ok, type Result } from './result.ts';

export interface ListenAddress {
  /** Undefined for every interface, both IP versions. */
  readonly hostname: string | undefined;
  readonly port: number;
}

const FORM = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]*)):([0-9]{1,5})$/;

/**
 * Reads `:8080`, `127.0.0.1:8080`, `localhost:0` or `[::1]:8080`. Port 0 to 65535.
 * The fault is the broken rule.
 */
export function parseListenAddress(text: string): Result<ListenAddress, string> {
  const match = FORM.exec(text);
  if (match === null) return fault('not a listen address');
  const port = Number(match[3]);
  if (port > 65_535) return fault('port above 65535');
  const hostname = match[1] ?? match[2];
  return ok({ hostname: hostname === '' ? undefined : hostname, port });
}
