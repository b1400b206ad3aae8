import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAccessLine } from '../../src/telemetry/access-log.ts';
import type { RequestRecord } from '../../src/telemetry/request-record.ts';

const TOKEN = 'v2.k1.AAEBRlIBoaFHzgAAAOpg_Zz-9.bvDwYUGvNTABGFm-MkknhGUhrEM1-il3Hzes2lOFK4s';

function record(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    arrivedMs: Date.UTC(2026, 10, 3, 12),
    startedMs: 1_000.5,
    method: 'POST',
    target: '/v1/messages?beta=true',
    sourceIp: '192.0.2.1',
    requestId: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a',
    clientRequestId: undefined,
    route: '/v1/messages',
    status: 200,
    errorCode: undefined,
    refusalReason: undefined,
    keyId: undefined,
    alias: undefined,
    model: undefined,
    agentId: undefined,
    deploymentId: undefined,
    routing: undefined,
    redirectSite: undefined,
    originSite: undefined,
    hop: undefined,
    remainingRequests: undefined,
    remainingTokens: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    isIncomplete: false,
    holdMs: undefined,
    firstByteMs: undefined,
    bodyBytes: 0,
    streaming: false,
    ...change,
  };
}

function fields(change: Partial<RequestRecord>, endedMs = 1_000.5): Record<string, unknown> {
  return JSON.parse(formatAccessLine(record(change), endedMs)) as Record<string, unknown>;
}

describe('formatAccessLine()', () => {
  it('tells the tokens that the engine told, 0 too, and a stream without its last word', () => {
    const told = fields({ inputTokens: 5, outputTokens: 0, isIncomplete: true });
    assert.deepEqual([told['input_tokens'], told['output_tokens'], told['stream_incomplete']], [5, 0, true]);
  });

  it('leaves out what has no value (api.md 16.2)', () => {
    assert.equal(
      formatAccessLine(record(), 1_013),
      '{"log_type":"access","ts":"2026-11-03T12:00:00.000Z","request_id":"8b9e4a6d-dfb4-4b95-bada-319e7e5b878a",' +
        '"method":"POST","path":"/v1/messages?beta=true","status_code":200,"latency_ms":12.5,"source_ip":"192.0.2.1"}\n',
    );
  });

  it('writes everything that is known under its own name (api.md 16.2)', () => {
    assert.deepEqual(
      fields({
        clientRequestId: '018f6b1e-7c1a-7000-8000-0123456789ab',
        errorCode: 'model_not_found',
        refusalReason: 'replay',
        keyId: '',
        model: 'm',
        agentId: 'agent-1',
        redirectSite: 'site-fr-2',
        originSite: 'site-fr-1',
        hop: 2,
        firstByteMs: 0,
      }),
      {
        log_type: 'access',
        ts: '2026-11-03T12:00:00.000Z',
        request_id: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a',
        client_request_id: '018f6b1e-7c1a-7000-8000-0123456789ab',
        method: 'POST',
        path: '/v1/messages?beta=true',
        status_code: 200,
        latency_ms: 0,
        first_byte_ms: 0,
        key_id: '',
        model: 'm',
        agent_id: 'agent-1',
        origin_site: 'site-fr-1',
        redirect_site: 'site-fr-2',
        hop: 2,
        refusal_reason: 'replay',
        error_code: 'model_not_found',
        source_ip: '192.0.2.1',
      },
    );
  });

  it('rounds durations to a tenth of a millisecond (api.md 16.2)', () => {
    assert.equal(fields({ firstByteMs: 3.149 }, 1_000.5 + 7.06)['first_byte_ms'], 3.1);
    assert.equal(fields({}, 1_000.5 + 7.06)['latency_ms'], 7.1);
  });

  it('redacts the token in the target (R-205)', () => {
    const path = fields({ target: `/v1/messages?beta=true&%72t=${TOKEN}` })['path'];
    assert.equal(path, '/v1/messages?beta=true&rt=REDACTED');
  });

  it('redacts a token in any other field, such as a model that a client names (D-70)', () => {
    const line = formatAccessLine(record({ model: `https://b/v1?rt=${TOKEN}`, agentId: TOKEN }), 1_000.5);
    assert.ok(!line.includes(TOKEN), line);
  });

  it('is one line, whatever a client named its model (T-36)', () => {
    const line = formatAccessLine(record({ model: 'm\n{"log_type":"access"}\r' }), 1_000.5);
    assert.equal(line.indexOf('\n'), line.length - 1);
    assert.ok(!line.includes('\r'));
  });
});
