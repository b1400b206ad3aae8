// Clients of many streams at once, in this process: when each chunk came, against when the engine sent it.

import { connect, type Socket } from 'node:net';
import { chatBody } from '../../src/bench/chat-body.ts';
import { postBytes } from '../../src/bench/connection.ts';
import { MODEL } from '../../src/bench/fleet.ts';

const AT = Buffer.from('"at":');
const EVENT_END = Buffer.from('\n\n');
const BODY = chatBody(256, { model: MODEL, stream: true });

/** Where streams come from. */
export interface StreamSource {
  readonly port: number;
  readonly headers: readonly string[];
}

export class Streams {
  readonly #sockets: Socket[] = [];
  /** By how many ms each gap between two chunks differed from the engine's, of the streams that are looked at. */
  readonly deviationsMs: number[] = [];
  chunks = 0;
  /** Streams that have had their first chunk. */
  begun = 0;
  broken = 0;
  isMeasuring = false;
  #isClosing = false;

  /** Opens `count` streams over `spreadMs`; of every tenth one each chunk is looked at, of the others they are counted. */
  async open({ port, headers }: StreamSource, count: number, spreadMs: number): Promise<void> {
    const request = postBytes(port, '/v1/chat/completions', BODY, headers);
    for (let index = 0; index < count; index += 1) {
      this.#openOne(port, request, index % 10 === 0);
      if (index % 10 === 9) await pause((10 * spreadMs) / count);
    }
    const endMs = performance.now() + 20_000;
    while (this.begun < count && performance.now() < endMs) await pause(20);
    if (this.begun < count) throw new Error(`${count - this.begun} of ${count} streams did not begin`);
  }

  /** All that came within `durationMs`. */
  async measure(durationMs: number): Promise<void> {
    this.chunks = 0;
    this.isMeasuring = true;
    await pause(durationMs);
    this.isMeasuring = false;
  }

  close(): void {
    this.#isClosing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #openOne(port: number, request: Buffer, isLookedAt: boolean): void {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => void socket.write(request));
    let isBegun = false;
    let before: { readonly atMs: number; readonly arrivedMs: number } | undefined;
    socket.on('data', (chunk: Buffer) => {
      if (!isBegun && chunk.includes(EVENT_END)) {
        isBegun = true;
        this.begun += 1;
      }
      if (!this.isMeasuring) {
        before = undefined;
        return;
      }
      if (!isLookedAt) {
        this.chunks += countEvents(chunk);
        return;
      }
      const arrivedMs = performance.timeOrigin + performance.now();
      for (const atMs of timesIn(chunk)) {
        this.chunks += 1;
        if (before !== undefined) this.deviationsMs.push(Math.abs(arrivedMs - before.arrivedMs - (atMs - before.atMs)));
        before = { atMs, arrivedMs };
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (!this.#isClosing) this.broken += 1;
    });
    this.#sockets.push(socket);
  }
}

function countEvents(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(EVENT_END); at !== -1; at = chunk.indexOf(EVENT_END, at + 2)) count += 1;
  return count;
}

function timesIn(chunk: Buffer): readonly number[] {
  const times: number[] = [];
  for (let at = chunk.indexOf(AT); at !== -1; at = chunk.indexOf(AT, at + 1)) {
    times.push(Number.parseFloat(chunk.toString('latin1', at + AT.length, at + AT.length + 24)));
  }
  return times;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
