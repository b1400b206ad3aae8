// One of three engines is killed under load and comes back: what is lost, how soon nobody is sent there, and how it takes
// its share again.

import { eventually } from '../support/eventually.ts';
import { type Answered, Load } from '../support/load.ts';
import { engineFlags, startEngine, startRouter, untilHealthy } from '../support/router-process.ts';

const CLIENTS = 24;
/** Slots of one agent. */
const CAPACITY = 10;
const NAMES = ['left', 'middle', 'right'];
const MOVED_WITHIN_MS = 100;
/** Answers from which a share is taken. */
const SAMPLE = 600;
/** Two good probes are five seconds apart. */
const RETURN_MS = 15_000;

export async function engineReturns(): Promise<string> {
  const args = ['--ttft', '10ms', '--tokens-per-second', '200'];
  const settings = (name: string) => ({ name, models: ['chat'], args });
  const engines = await Promise.all(NAMES.map((name) => startEngine(settings(name))));
  const router = await startRouter(engineFlags(engines));
  const [, mortal] = engines;
  if (mortal === undefined) throw new Error('no engine');
  try {
    await untilHealthy(router, 'chat', NAMES.length);
    const load = new Load(router.url, 'chat', CLIENTS);
    await untilAnswered(load, SAMPLE);
    const killedMs = performance.now();
    await mortal.kill();
    await router.line((line) => line.includes('reason="connection refused"'), 'stderr');
    const refusedMs = performance.now();
    await untilAnswered(load, SAMPLE);
    const returned = await startEngine({ ...settings('middle'), port: Number(new URL(mortal.url).port) });
    const startedMs = performance.now();
    await eventually('it is healthy again', () => isHealthyAgain(router.stderr) || undefined, RETURN_MS);
    const healthyMs = performance.now();
    await untilAnswered(load, SAMPLE);
    await load.stop();
    await returned.kill();
    const lost = load.answered.filter(({ isWhole }) => !isWhole);
    const late = lost.filter((answer) => answer.startedMs > refusedMs + MOVED_WITHIN_MS);
    const shares = NAMES.map((name) =>
      shareOf(
        name,
        load.answered.filter((answer) => answer.startedMs > healthyMs),
      ),
    );
    const told =
      `${lost.length} of ${load.answered.length} requests lost, refused ${ms(refusedMs - killedMs)} ms after the kill, ` +
      `back ${ms(healthyMs - startedMs)} ms after its start, then shares of ${shares.map((share) => share.toFixed(2)).join(' ')}`;
    const areEven = shares.every((share) => Math.abs(share - 1 / NAMES.length) < 0.2 / NAMES.length);
    if (lost.length > CAPACITY || late.length > 0 || !areEven) throw new Error(told);
    return told;
  } finally {
    await Promise.all([router, ...engines].map((running) => running.kill()));
  }
}

/** That many more answers than now. */
async function untilAnswered(load: Load, more: number): Promise<void> {
  const goal = load.answered.length + more;
  await eventually(`${more} more answers`, () => load.answered.length >= goal || undefined, 30_000);
}

function isHealthyAgain(lines: readonly string[]): boolean {
  return lines.some((line) => line.includes('from="unhealthy" to="healthy"'));
}

function shareOf(name: string, answered: readonly Answered[]): number {
  return answered.filter(({ engine }) => engine === name).length / answered.length;
}

function ms(span: number): string {
  return span.toFixed(0);
}
