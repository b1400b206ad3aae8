// 200 MB to a client that reads nothing for a while and then all of it: what the router keeps meanwhile.

import type { Socket } from 'node:net';
import { FLOOD_BYTES, startFlood } from '../support/flood.ts';

const STALL_MS = 3_000;
const LOOK_MS = 50;
const GROWTH_MAX_MB = 32;
const END = Buffer.from('data: [DONE]\n\n');

export async function slowReader(): Promise<string> {
  const flood = await startFlood();
  try {
    const client = await flood.ask();
    let mostMb = 0;
    const watch = setInterval(() => void flood.growthMb().then((mb) => (mostMb = Math.max(mostMb, mb))), LOOK_MS);
    await new Promise((resolve) => setTimeout(resolve, STALL_MS));
    const [stalledMb, heldBack] = [mostMb, flood.sent()];
    if (heldBack >= FLOOD_BYTES / 4) throw new Error(`the engine got rid of ${heldBack} bytes while nobody read`);
    const received = await readToEnd(client);
    clearInterval(watch);
    if (received < FLOOD_BYTES) throw new Error(`${received} of ${FLOOD_BYTES} bytes arrived`);
    const told = `+${stalledMb.toFixed(1)} MB while it stalled (engine held back at ${mb(heldBack)} MB), +${mostMb.toFixed(1)} MB at most`;
    if (mostMb >= GROWTH_MAX_MB) throw new Error(told);
    return told;
  } finally {
    await flood.close();
  }
}

/** Bytes up to the last word of the stream, with head and framing. */
function readToEnd(socket: Socket): Promise<number> {
  let received = 0;
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.byteLength;
      if (chunk.includes(END)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.resume();
  });
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
