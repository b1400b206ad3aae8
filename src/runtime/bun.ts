// Bun behind the Runtime interface.

import { BunListener } from './bun-listener.ts';
import type { Runtime } from './runtime.ts';

/**
 * `decompress: false` keeps an engine's bytes and its Content-Encoding in step; `timeout: false` leaves the time
 * limits to the router (bun.md, facts 3 and 8).
 */
export const bunRuntime: Runtime = {
  name: 'bun',
  listen: (settings) => new BunListener(settings),
  engineFetchInit: { decompress: false, timeout: false } as RequestInit,
};
