import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { ENGINE_MESSAGE_MAX_BYTES, engineMessage, holdsSecret } from '../../src/dispatch/engine-message.ts';
import { fixture } from '../agents/engines/fixture.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('engineMessage()', () => {
  const cases: readonly (readonly [body: string, message: string | undefined])[] = [
    ['{"error":{"message":"openai","type":"x"}}', 'openai'],
    ['{"type":"error","error":{"type":"x","message":"anthropic"}}', 'anthropic'],
    ['{"object":"error","message":"old vllm"}', 'old vllm'],
    ['{"error":"ollama"}', 'ollama'],
    ['{"detail":"fastapi"}', 'fastapi'],
    ['{"detail":[{"loc":[]}]}', '{"detail":[{"loc":[]}]}'],
    ['{"error":{"message":5}}', '{"error":{"message":5}}'],
    ['{"error":null,"message":"m"}', 'm'],
    ['"just text"', 'just text'],
    ['null', 'null'],
    ['<html>502</html>\n', '<html>502</html>'],
    ['', undefined],
    [' \n', undefined],
    ['{"error":""}', undefined],
  ];
  for (const [body, message] of cases) {
    it(`of ${JSON.stringify(body)}`, () => assert.equal(engineMessage(bytesOf(body)), message));
  }

  it('shows no secret, wherever it stands, also where the cut would leave a part of it', () => {
    const secret = 'sk-"0/1';
    const told = (message: string) => engineMessage(bytesOf(JSON.stringify({ error: message })), secret);
    assert.equal(told(`bad key ${secret}, ${secret}!`), 'bad key [hidden], [hidden]!');
    const filler = 'x'.repeat(ENGINE_MESSAGE_MAX_BYTES - 3);
    assert.equal(told(`${filler}${secret}`), `${filler}[hi`);
    assert.equal(engineMessage(bytesOf(`<b>${secret}</b>`), secret), '<b>[hidden]</b>');
    assert.equal(engineMessage(bytesOf(JSON.stringify({ said: [secret] })), secret), undefined);
    assert.equal(told('bad key'), 'bad key');
  });

  const errors = {
    vllm: 'The model `gone` does not exist.',
    sglang: "The input is longer than the model's context length.",
    llamacpp: 'Invalid API Key',
    ollama: "model 'gone' not found",
    infinity: 'model bge-m3 is currently overloaded',
  };
  for (const [engine, message] of Object.entries(errors)) {
    it(`of an error by ${engine}`, () =>
      assert.equal(engineMessage(bytesOf(fixture(`${engine}/error`).body)), message));
  }

  it('survives a body that nests without end', () => {
    assert.equal(engineMessage(bytesOf('{"error":'.repeat(100_000)))?.length, ENGINE_MESSAGE_MAX_BYTES);
    assert.notEqual(engineMessage(bytesOf(`${'{"error":'.repeat(1000)}1${'}'.repeat(1000)}`)), undefined);
  });

  it('shows bytes that are not UTF-8 as replacement characters', () => {
    assert.equal(engineMessage(Uint8Array.of(0x61, 0xff, 0x62)), 'a\ufffdb');
  });

  it('keeps 512 bytes and cuts the next', () => {
    assert.equal(engineMessage(bytesOf('x'.repeat(512))), 'x'.repeat(512));
    assert.equal(engineMessage(bytesOf('x'.repeat(513))), 'x'.repeat(512));
  });

  it('cuts between characters, of any length', () => {
    const text = fc.string({ unit: 'binary', minLength: 120, maxLength: 400 }).map((sample) => `x${sample}x`);
    return fc.assert(
      fc.property(text, (whole) => {
        const message = engineMessage(bytesOf(JSON.stringify({ error: whole })));
        assert.ok(message !== undefined && whole.trim().startsWith(message));
        const size = bytesOf(message).byteLength;
        assert.ok(size <= ENGINE_MESSAGE_MAX_BYTES);
        assert.ok(message === whole || size > ENGINE_MESSAGE_MAX_BYTES - 4);
      }),
      { numRuns: 300 },
    );
  });
});

describe('holdsSecret()', () => {
  for (const [text, expected] of [
    ['key sk-/1.', true],
    ['key sk-\\/1.', true],
    ['key \\u0073k-\\u002F\\u0031.', true],
    ['key sk-/2.', false],
    ['sk-\\\\/1', false],
    ['', false],
  ] as const) {
    it(`is ${expected} for ${text}`, () => assert.equal(holdsSecret(text, 'sk-/1'), expected));
  }
});
