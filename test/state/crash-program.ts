// Writes the state as fast as it can until it is killed, and prints every number once all of it is written: argument 1
// is the directory, argument 2 the number to begin with.

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { openState } from '../../src/state/open-state.ts';
import type { StoredDocument } from '../../src/state/state.ts';
import { StateWriter } from '../../src/state/state-writer.ts';

const [directory = '', first = '1'] = process.argv.slice(-2);
/** A replacement every so many numbers, a change of one part at the others. */
const REPLACED_EVERY = 5;

const opened = openState(directory);
if (!opened.ok) throw new Error(opened.fault);
const held: { keys: StoredDocument | undefined } = { keys: undefined };
const writer = new StateWriter({
  state: opened.value.state,
  after: () => () => undefined,
  pause: () => Promise.resolve(),
  nowMs: () => 0,
  documents: { keys: () => held.keys, map: () => undefined },
  onFailure: (reason) => process.stderr.write(`${reason}\n`),
  onRecovery: () => undefined,
});

for (let number = Number(first); ; number += 1) {
  writer.noteUse({ budget: 'b', day: 0, tokens: number });
  await Promise.all([writer.flush(), number % REPLACED_EVERY === 0 ? replace(number) : change(number)]);
  process.stdout.write(`${number}\n`);
  // Lets the line out.
  if (number % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
}

function replace(number: number): Promise<void> {
  const body = Buffer.from(String(number));
  const names = Array.from({ length: 1_000 }, (_, index) => `part-${index}`);
  held.keys = { version: String(number), parts: [...names, 'last'].map((name) => ({ name, body })) };
  return writer.replaced('keys');
}

function change(number: number): Promise<void> {
  return writer.partChanged('keys', String(number), 'last', Buffer.from(String(number)));
}
