import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { getFromEngine } from '../../src/agents/engine-get.ts';

const SETTING: AgentSetting = {
  id: 'e',
  engine: 'vllm',
  capability: 'llm',
  backendUrl: 'http://e:1/base',
  models: [],
  capacity: 1,
};

/** The result of one GET, and what the engine was asked. */
async function get(answer: () => Response, setting: Partial<AgentSetting> = {}) {
  const asked: { url: string; headers: Headers }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    asked.push({ url, headers: new Headers(init.headers) });
    return answer();
  };
  const ask = { path: '/metrics', maxBytes: 4 };
  const result = await getFromEngine({ ...SETTING, ...setting }, ask, fetch, new AbortController().signal);
  return { result, asked };
}

describe('getFromEngine()', () => {
  it('asks below the base URL, for no encoding and without a key', async () => {
    const { result, asked } = await get(() => new Response('1234'));
    assert.deepEqual(result, { ok: true, value: new TextEncoder().encode('1234') });
    assert.equal(asked[0]?.url, 'http://e:1/base/metrics');
    assert.equal(asked[0]?.headers.get('accept-encoding'), 'identity');
    assert.equal(asked[0]?.headers.has('authorization'), false);
  });

  it('shows the engine its key', async () => {
    const { asked } = await get(() => new Response(''), { apiKey: 'sk-engine' });
    assert.equal(asked[0]?.headers.get('authorization'), 'Bearer sk-engine');
  });

  it('tells a wrong status, and an answer that is a byte too long', async () => {
    const status = await get(() => new Response('', { status: 401 }), { apiKey: 'sk-engine' });
    assert.deepEqual(status.result, { ok: false, fault: 'GET /metrics: status 401' });
    const long = await get(() => new Response('12345'));
    assert.deepEqual(long.result, { ok: false, fault: 'GET /metrics: answer above 4 bytes' });
  });

  it('keeps the key out of the fault, whatever is wrong with it', async () => {
    const fetch = async (url: string, init: RequestInit) => Response.json(new Headers(init.headers).get(url));
    const setting = { ...SETTING, apiKey: 'sk-\n-engine' };
    const result = await getFromEngine(setting, { path: '/x', maxBytes: 4 }, fetch, new AbortController().signal);
    assert.deepEqual(result, { ok: false, fault: 'GET /x: connection failed' });
  });
});
