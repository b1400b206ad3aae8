// What the demo prints: short, aligned, and without a token or a key.

import { type Fleet, MODELS } from './fleet.ts';
import type { Call, Journey } from './journey.ts';
import type { RedirectMetrics } from './metrics.ts';
import type { Replay } from './replay.ts';

/** Width of the names in front of each line. */
const NAME_WIDTH = 17;
const SERIES_WIDTH = 74;

/** Every line ends here. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export function printFleet({ first, second, mapVersion }: Fleet): void {
  const { local, chat, embedding, rerank } = MODELS;
  print('Two sites with one set of keys and one sibling map:');
  print();
  print(`  ${first.id}  ${first.url}  serves ${local.id}`);
  print(`  ${second.id}  ${second.url}  serves ${chat.id}, ${embedding.id}, ${rerank.id}`);
  print();
  print(`  Pushed to both: 2 API keys, sibling map version ${mapVersion}.`);
  print();
  print(`Five calls, all to ${first.id}, for what it does not serve:`);
  print();
}

export function printCall({ first, second }: Fleet, name: string, call: Call, journey: Journey): void {
  const { requestId, redirectMs, serveMs, agentId } = journey;
  const legs = `${first.id} answered 307 in ${ms(redirectMs)} → ${second.id} served it in ${ms(serveMs)}`;
  printNamed(name, `${legs}, ${ms(call.totalMs)} in all`);
  printNamed('', `${call.finding} (${agentId}), request ${requestId}`);
}

export function printReplay({ second }: Fleet, { servedId, refusedId }: Replay): void {
  print();
  print('One redirect URL, used twice:');
  print();
  printNamed('first use', `${second.id} answered 200, request ${servedId}`);
  printNamed('second use', `${second.id} answered 401 with x-should-retry: true, request ${refusedId}`);
}

/** Counters that stand at 0 are left out, but for one line of each family. */
export function printMetrics({ first, second }: Fleet, metrics: RedirectMetrics): void {
  const names = [...new Set([...metrics.first.keys(), ...metrics.second.keys()])];
  const shown = names.filter((name) => !name.includes('{') || metrics.first.get(name) || metrics.second.get(name));
  print();
  print(`${'Redirect metrics'.padEnd(SERIES_WIDTH + 2)}${column(first.id)}${column(second.id)}`);
  print();
  for (const name of shown) {
    const values = [metrics.first, metrics.second].map((site) => column(String(site.get(name) ?? 0)));
    print(`  ${name.padEnd(SERIES_WIDTH)}${values.join('')}`);
  }
  print();
}

function printNamed(name: string, text: string): void {
  print(`  ${name.padEnd(NAME_WIDTH)}${text}`);
}

function column(text: string): string {
  return text.padStart(12);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
