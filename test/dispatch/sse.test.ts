import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { EMPTY_TAIL, errorEvent, followingTail } from '../../src/dispatch/sse.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const eventAfter = (sent: string) =>
  new TextDecoder().decode(errorEvent('openai', '{"error":{}}', followingTail(EMPTY_TAIL, bytesOf(sent))));

describe('errorEvent()', () => {
  it('is data alone for OpenAI clients, and a named event for Anthropic clients', () => {
    const decode = (event: Uint8Array) => new TextDecoder().decode(event);
    assert.equal(decode(errorEvent('openai', '{"error":{}}', EMPTY_TAIL)), 'data: {"error":{}}\n\n');
    assert.equal(decode(errorEvent('anthropic', '{"error":{}}', EMPTY_TAIL)), 'event: error\ndata: {"error":{}}\n\n');
  });

  for (const ended of ['', 'data: 1\n\n', 'data: 1\r\n\r\n', 'data: 1\r\r', 'data: 1\n\r\n', '\n\n']) {
    it(`follows ${JSON.stringify(ended)} directly`, () => assert.equal(eventAfter(ended), 'data: {"error":{}}\n\n'));
  }

  for (const open of ['d', 'data: 1', 'data: 1\n', 'data: 1\r\n', 'event: x\ndata: {"a', 'data: 1\n\n:']) {
    it(`ends the event left open by ${JSON.stringify(open)} first`, () => {
      assert.equal(eventAfter(open), '\n\ndata: {"error":{}}\n\n');
    });
  }
});

describe('followingTail()', () => {
  it('does not depend on where the chunks are cut', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 8 });
    return fc.assert(
      fc.property(chunks, (parts) => {
        const whole = Uint8Array.from(parts.flatMap((part) => [...part]));
        assert.equal(parts.reduce(followingTail, EMPTY_TAIL), followingTail(EMPTY_TAIL, whole));
      }),
      { numRuns: 500 },
    );
  });
});
