// The moments of `serve` that the binary passes too fast to be met. What it does is tested in test/e2e.

import assert from 'node:assert/strict';
import process from 'node:process';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { LineWriter } from '../../src/cli/line-writer.ts';
import { runServe } from '../../src/cli/serve.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';

const ADMIN_KEYS = 'HIVENET_ROUTER_ADMIN_API_KEYS';
const { [ADMIN_KEYS]: held } = process.env;
const listeners = process.listeners('SIGHUP');

beforeEach(() => {
  process.env[ADMIN_KEYS] = 'admin-secret';
});

afterEach(() => {
  if (held === undefined) delete process.env[ADMIN_KEYS];
  else process.env[ADMIN_KEYS] = held;
  for (const listener of process.listeners('SIGHUP')) {
    if (!listeners.includes(listener)) process.off('SIGHUP', listener);
  }
});

describe('runServe()', () => {
  it('survives a SIGHUP that comes before its listeners are open (E13)', async () => {
    let isHandled = false;
    const runtime: Runtime = {
      name: 'bun',
      engineFetchInit: {},
      listen: () => {
        isHandled = process.listenerCount('SIGHUP') > listeners.length;
        throw new Error('no address today');
      },
    };
    const complaints: string[] = [];
    const writer = new LineWriter({ write: (_text, done) => done(), on: () => undefined });
    const code = await runServe(runtime, [], {
      version: 'test',
      print: () => undefined,
      complain: (line) => void complaints.push(line),
      stdout: writer,
      stderr: writer,
    });
    assert.equal(code, 1);
    assert.match(complaints.join(), /Cannot listen on/);
    assert.ok(isHandled);
  });
});
