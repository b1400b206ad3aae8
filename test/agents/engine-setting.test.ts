import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEngineSetting } from '../../src/agents/engine-setting.ts';

describe('parseEngineSetting()', () => {
  it('reads engine and URL, and fills in the rest', () => {
    assert.deepEqual(parseEngineSetting('vllm=http://10.0.0.5:8000'), {
      ok: true,
      value: {
        id: 'vllm-10.0.0.5-8000',
        engine: 'vllm',
        capability: 'llm',
        backendUrl: 'http://10.0.0.5:8000',
        models: [],
        capacity: 10,
      },
    });
  });

  it('reads capability and pinned models', () => {
    assert.deepEqual(parseEngineSetting('infinity:embedding=http://10.0.0.6:7997#bge-m3,org/e5:large'), {
      ok: true,
      value: {
        id: 'infinity-10.0.0.6-7997',
        engine: 'infinity',
        capability: 'embedding',
        backendUrl: 'http://10.0.0.6:7997',
        models: ['bge-m3', 'org/e5:large'],
        capacity: 10,
      },
    });
  });

  const urls: readonly (readonly [text: string, backendUrl: string, id: string])[] = [
    ['vllm=http://h', 'http://h', 'vllm-h-80'],
    ['vllm=https://h', 'https://h', 'vllm-h-443'],
    ['vllm=https://h:443/', 'https://h', 'vllm-h-443'],
    ['vllm=http://h:8000/base//', 'http://h:8000/base', 'vllm-h-8000'],
    ['vllm=http://[::1]:8000', 'http://[::1]:8000', 'vllm-::1-8000'],
    ['custom=http://GPU-1.lan:1', 'http://gpu-1.lan:1', 'custom-gpu-1.lan-1'],
  ];
  for (const [text, backendUrl, id] of urls) {
    it(`reads the URL of ${text}`, () => {
      const setting = parseEngineSetting(text);
      assert.ok(setting.ok);
      assert.deepEqual([setting.value.backendUrl, setting.value.id], [backendUrl, id]);
    });
  }

  it('takes a model name of 256 bytes', () => {
    assert.equal(parseEngineSetting(`vllm=http://h#${'é'.repeat(128)}`).ok, true);
  });

  const refused: readonly (readonly [text: string, rule: RegExp])[] = [
    ['', /^must be ENGINE/],
    ['http://h:8000', /^must be ENGINE/],
    ['=http://h', /^ENGINE must be one of vllm, sglang, ollama, llamacpp, infinity, custom$/],
    ['vLLM=http://h', /^ENGINE must be/],
    ['toString=http://h', /^ENGINE must be/],
    ['vllm:=http://h', /^CAPABILITY must be one of llm, embedding, reranker$/],
    ['vllm:chat=http://h', /^CAPABILITY must be/],
    ['vllm:llm:llm=http://h', /^CAPABILITY must be/],
    ['infinity=http://h', /^CAPABILITY of infinity must be one of embedding, reranker, not llm$/],
    ['ollama:reranker=http://h', /^CAPABILITY of ollama must be one of llm, embedding, not reranker$/],
    ['vllm=', /^URL must start/],
    ['vllm=h:8000', /^URL must start/],
    ['vllm=ftp://h', /^URL must start/],
    ['vllm=http://h:99999', /^URL must start/],
    ['vllm=http://u:secret@h', /^URL must hold no user name or password$/],
    ['vllm=http://secret@h', /^URL must hold no user name or password$/],
    ['vllm=http://h?a=b', /^URL must hold no query/],
    ['vllm=http://h?', /^URL must hold no query/],
    ['vllm=http://h#', /^MODEL must not be empty$/],
    ['vllm=http://h#a,', /^MODEL must not be empty$/],
    ['vllm=http://h#a,b,a', /^MODEL must not be named twice$/],
    [`vllm=http://h#${'é'.repeat(128)}x`, /^MODEL must be text of 1 to 256 bytes without control characters$/],
    ['vllm=http://h#a\u0007', /^MODEL must be text of 1 to 256 bytes without control characters$/],
  ];
  for (const [text, rule] of refused) {
    it(`refuses "${text}"`, () => {
      const setting = parseEngineSetting(text);
      assert.ok(!setting.ok);
      assert.match(setting.fault, rule);
      assert.doesNotMatch(setting.fault, /secret/);
    });
  }
});
