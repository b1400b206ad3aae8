// The client's side of a request that came over no socket.

import type { Connection } from '../../src/runtime/runtime.ts';

export const NO_CONNECTION: Connection = {
  remoteAddress: '192.0.2.1',
  allowSilence: () => undefined,
  endSilence: () => undefined,
  closeSoon: () => undefined,
};
