import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { State } from '../../src/state/state.ts';
import { BARE_ENV, start } from '../support/child-process.ts';
import { reopened, withDirectory } from './state-fixture.ts';

const BIN = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
const PROGRAM = fileURLToPath(new URL('crash-program.ts', import.meta.url));

const RUNTIMES = {
  Bun: { command: [`${BIN}/bun`], kills: 8 },
  Deno: { command: [`${BIN}/deno`, 'run', '-A', '--quiet', '--no-check'], kills: 3 },
} as const;

/** Lets the program write until it has said so many numbers, and kills it in the middle. Returns the last one it said. */
async function killed(command: readonly string[], directory: string, from: number, numbers: number): Promise<number> {
  const program = start([...command, PROGRAM, directory, String(from)], { ...BARE_ENV, DENO_NO_UPDATE_CHECK: '1' });
  await program.line((line) => Number(line) >= from + numbers);
  await program.kill();
  assert.deepEqual(program.stderr, []);
  return Math.max(...program.stdout.map(Number));
}

/** All that was said must be there, and all parts of the document of one replacement. Returns the last number there. */
function check(state: State, said: number): number {
  const tokens = state.readDailyUse(0)[0]?.tokens ?? 0;
  assert.ok(tokens >= said, `use ${tokens} after ${said}`);
  const document = state.readDocument('keys') ?? assert.fail('no document');
  const bodies = Array.from(document.parts, ({ body }) => Number(Buffer.from(body).toString()));
  const last = bodies.pop() ?? 0;
  assert.ok(last >= said && Math.abs(last - tokens) <= 1, `document ${last}, use ${tokens} after ${said}`);
  assert.equal(document.version, String(last));
  assert.equal(bodies.length, 1_000);
  assert.deepEqual([...new Set(bodies)], [Math.floor(last / 5) * 5]);
  return last;
}

for (const [name, { command, kills }] of Object.entries(RUNTIMES)) {
  describe(`A state that is written on ${name}`, () => {
    it('has all that was written, whole, whenever the process is killed', () =>
      withDirectory(async (directory) => {
        let from = 5;
        for (let kill = 0; kill < kills; kill += 1) {
          const said = await killed(command, directory, from, 7 + kill * 3);
          from = Math.floor(reopened(directory, (state) => check(state, said)) / 5) * 5 + 10;
        }
      }));
  });
}
