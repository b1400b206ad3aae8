import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { runMockEngine } from '../../src/cli/mock-engine.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { BARE_ENV, start } from '../support/child-process.ts';

const DEAF: Runtime = {
  name: 'bun',
  engineFetchInit: {},
  listen: () => {
    throw new Error('port taken');
  },
};

async function run(...args: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const code = await runMockEngine(args, DEAF, {
    print: (line) => void printed.push(line),
    complain: (line) => void complaints.push(line),
  });
  return { code, printed, complaints };
}

/** Exits by itself only once nothing runs any more, as the real entry point does. */
const PROGRAM = `
  import { runMockEngine } from './src/cli/mock-engine.ts';
  import { bunRuntime } from './src/runtime/bun.ts';
  const output = { print: console.log, complain: console.error };
  process.exitCode = await runMockEngine(process.argv.slice(1), bunRuntime, output);
`;

describe('runMockEngine()', () => {
  it('prints its help and ends with 0', async () => {
    const { code, printed, complaints } = await run('--help');
    assert.equal(code, 0);
    assert.match(printed.join('\n'), /^Usage: hivenet-router mock-engine /);
    assert.deepEqual(complaints, []);
  });

  it('complains of every bad flag, a line each, and ends with 1', async () => {
    const { code, printed, complaints } = await run('--ttft', 'x', '--error-rate', '2');
    assert.equal(code, 1);
    assert.deepEqual(
      complaints.map((line) => line.split(' ')[0]),
      ['--models', '--ttft', '--error-rate'],
    );
    assert.deepEqual(printed, []);
  });

  it('says in one line why it cannot listen, and ends with 1', async () => {
    const { code, printed, complaints } = await run('--models', 'a', '--port', ':80');
    assert.equal(code, 1);
    assert.deepEqual(complaints, ['Cannot listen on ":80" from --port: port taken']);
    assert.deepEqual(printed, []);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`says where it listens, serves, and ends with 0 on ${signal} while a stream is running`, async () => {
      const flags = '--models tiny --port 0 --tokens-per-second 0.01'.split(' ');
      const engine = start([process.execPath, '-e', PROGRAM, '--', ...flags], BARE_ENV);
      const line = await engine.line((text) => text.startsWith('listening '));
      const url = /^listening mock-engine (http:\/\/127\.0\.0\.1:[1-9][0-9]*)$/.exec(line)?.[1];
      assert.ok(url, line);
      const body = JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'hi' }], stream: true });
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
      assert.equal(response.status, 200);
      engine.signal(signal);
      assert.equal(await engine.ended, 0);
      await response.body?.cancel().catch(() => undefined);
    });
  }
});
