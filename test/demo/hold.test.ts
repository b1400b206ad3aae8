// The demo of a held request as `make demo-hold` runs it.

import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BARE_ENV, run } from '../support/child-process.ts';

const DEMO = [process.execPath, fileURLToPath(new URL('hold.ts', import.meta.url))];

describe('The demo of a held request', () => {
  it('has the webhook start the engine while the client waits, and leaves nothing running', {
    timeout: 60_000,
  }, async () => {
    const { code, stdout, stderr } = await run(DEMO, BARE_ENV);
    assert.deepEqual([code, stderr], [0, []]);
    const text = stdout.join('\n');
    for (const step of [
      'the openai package asks for llama-3-70b',
      'the router holds it: hivenet_hold_requests\\{model="llama-3-70b"\\} 1',
      'the webhook was called, signed: 1 waiting for llama-3-70b at site-fr-1 since \\S+Z',
      'it has started the engine, which answers 503 for 3s',
      'the agent is healthy',
      'the client has its answer, 200: \\d+ tokens',
      'Server-Timing: hold;dur=3\\d{3}',
    ]) {
      assert.match(text, new RegExp(`^ +\\d+\\.\\d\\d s  ${step}$`, 'm'));
    }
    const { stdout: left } = await run(['ps', '-eo', 'args']);
    assert.deepEqual(
      left.filter((line) => line.includes('--models llama-3-70b --start-delay 3s') && line.includes(process.cwd())),
      [],
    );
  });
});
