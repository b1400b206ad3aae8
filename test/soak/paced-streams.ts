// A thousand streams of five chunks a second: that none is lost, and that each comes as far after the one before as the
// engine sent it.

import { connect } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { BARE_ENV, start } from '../support/child-process.ts';
import { postText } from '../support/raw-connection.ts';
import { engineFlags, startRouter, untilHealthy } from '../support/router-process.ts';

const STREAMS = 1000;
const EVENTS = 50;
/** They begin within that time; a thousand beginnings in one moment are another matter (crowd.ts). */
const START_MS = 2_000;
/** Beside them, past the router: what the machine does to a stream. */
const CONTROLS = 50;
/** Slots of one agent. */
const CAPACITY = 10;
const WITHIN_MS = 20;
const SHARE_WITHIN = 0.99;
const ENGINE = fileURLToPath(new URL('./timed-engine.ts', import.meta.url));

interface Arrival {
  readonly number: number;
  /** By the engine's clock and by this one, which is the same machine's. */
  readonly sentMs: number;
  readonly arrivedMs: number;
}

export async function pacedStreams(): Promise<string> {
  const engine = start([process.execPath, ENGINE], BARE_ENV);
  const port = (await engine.line((line) => line.startsWith('listening '))).slice('listening '.length);
  const agents = Array.from({ length: STREAMS / CAPACITY }, (_, index) => ({
    setting: `custom=http://agent-${index}.localhost:${port}`,
  }));
  const router = await startRouter(engineFlags(agents));
  try {
    await untilHealthy(router, 'timed', agents.length);
    const [streams, direct] = await Promise.all([
      readStreams(router.url, STREAMS),
      readStreams(`http://127.0.0.1:${port}`, CONTROLS),
    ]);
    const broken = streams.filter((arrivals) => !isWhole(arrivals));
    if (broken.length > 0) throw new Error(`${broken.length} streams lost a chunk`);
    const pace = paceOf(streams);
    const told = `${pace.told}; past the router ${paceOf(direct).told}`;
    if (pace.within < SHARE_WITHIN) throw new Error(told);
    return told;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}

function readStreams(url: string, count: number): Promise<readonly (readonly Arrival[])[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index * START_MS) / count));
      return readStream(url);
    }),
  );
}

function paceOf(streams: readonly (readonly Arrival[])[]) {
  const changes = streams.flatMap(gapChanges).sort((a, b) => a - b);
  const within = changes.filter((change) => change <= WITHIN_MS).length / changes.length;
  const [median, late, most] = [0.5, 0.99, 1].map((share) =>
    changes[Math.floor(share * (changes.length - 1))]?.toFixed(1),
  );
  const told = `${(100 * within).toFixed(2)} % of gaps within ${WITHIN_MS} ms (p50 ${median}, p99 ${late}, most ${most} ms)`;
  return { within, told };
}

function readStream(url: string): Promise<readonly Arrival[]> {
  const arrivals: Arrival[] = [];
  let begun = '';
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(arrivals));
    socket.on('data', (text: string) => {
      const arrivedMs = performance.timeOrigin + performance.now();
      const lines = `${begun}${text}`.split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) {
        const [, number, sentMs] = /^data: \{"number":(\d+),"at":([\d.]+)\}/.exec(line) ?? [];
        if (number !== undefined) arrivals.push({ number: Number(number), sentMs: Number(sentMs), arrivedMs });
        if (line.startsWith('data: [DONE]')) socket.destroy();
      }
    });
    socket.write(postText(url, '/v1/chat/completions', { model: 'timed', messages: [], stream: true }));
  });
}

function isWhole(arrivals: readonly Arrival[]): boolean {
  return arrivals.length === EVENTS && arrivals.every(({ number }, index) => number === index);
}

/** By how many milliseconds each gap between two chunks differs from the engine's. */
function gapChanges(arrivals: readonly Arrival[]): readonly number[] {
  return arrivals.slice(1).map(({ sentMs, arrivedMs }, index) => {
    const before = arrivals[index];
    if (before === undefined) return Number.NaN;
    return Math.abs(arrivedMs - before.arrivedMs - (sentMs - before.sentMs));
  });
}
