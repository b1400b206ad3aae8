// A sibling site that only counts who connects: a router must never be among them.

import { type AddressInfo, connect, createServer } from 'node:net';

export interface SilentSibling {
  readonly port: number;
  /** Connections so far. */
  readonly connections: () => number;
  close(): void;
}

/** Listens on a free port of every loopback address, and has already counted one connection to show that it counts. */
export async function startSilentSibling(): Promise<SilentSibling> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => connect(port, '127.0.0.1').once('close', resolve).once('error', resolve));
  return { port, connections: () => connections, close: () => void server.close() };
}
