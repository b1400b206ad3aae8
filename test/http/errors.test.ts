// The one error body, as it stands on the wire and as both families of SDKs read it (E4).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { ERROR_CODES, type ErrorCode, RouterError } from '../../src/errors.ts';
import { errorResponse, errorText, toRouterError } from '../../src/http/respond.ts';
import { NO_CONNECTION } from '../support/no-connection.ts';
import { KEYS } from '../support/test-keys.ts';
import { bearer, type TestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, errorOf, follow, siteA, siteB, tokenForB } from './redirect-fixture.ts';

interface Wire {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly source?: 'backend';
  readonly headers?: Record<string, string>;
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="hivenet-router"' };

/** Status, code and type of every error (api.md 6.2, E4). */
const INVALID = { status: 400, code: 'request_invalid', type: 'invalid_request_error' } as const;

const LIMITED = { status: 429, type: 'rate_limit_error' } as const;
const OVERLOADED = { status: 503, type: 'overloaded_error' } as const;

const WIRE = {
  unauthorized: { status: 401, code: 'unauthorized', type: 'authentication_error', headers: CHALLENGE },
  token_refused: {
    status: 401,
    code: 'unauthorized',
    type: 'authentication_error',
    headers: { ...CHALLENGE, 'x-should-retry': 'true' },
  },
  model_forbidden: { status: 403, code: 'model_forbidden', type: 'permission_error' },
  request_invalid: INVALID,
  body_too_large: { ...INVALID, status: 413 },
  body_timeout: { ...INVALID, headers: { connection: 'close' } },
  encoding_unsupported: { ...INVALID, status: 415, headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } },
  path_unknown: { status: 404, code: 'request_invalid', type: 'not_found_error' },
  method_not_allowed: { status: 405, code: 'request_invalid', type: 'not_found_error' },
  model_not_found: { status: 404, code: 'model_not_found', type: 'not_found_error' },
  input_too_long: { ...INVALID, code: 'input_too_long' },
  rate_limit_exceeded: { ...LIMITED, code: 'rate_limit_exceeded' },
  token_limit_exceeded: { ...LIMITED, code: 'token_limit_exceeded' },
  concurrency_limit_exceeded: { ...LIMITED, code: 'concurrency_limit_exceeded' },
  no_agents_available: { ...OVERLOADED, code: 'no_agents_available' },
  no_capacity: { ...OVERLOADED, code: 'no_capacity', headers: { 'retry-after': '1' } },
  queue_full: { ...OVERLOADED, code: 'queue_full', headers: { 'retry-after': '1' } },
  shutting_down: { ...OVERLOADED, code: 'backend_unavailable', headers: { 'retry-after': '1' } },
  backend_unavailable: { ...OVERLOADED, code: 'backend_unavailable', source: 'backend' },
  backend_error: { status: 502, code: 'backend_error', type: 'api_error', source: 'backend' },
  request_timeout: { status: 504, code: 'request_timeout', type: 'api_error' },
  client_gone: { status: 499, code: 'client_gone', type: 'api_error' },
  internal_error: { status: 500, code: 'backend_error', type: 'api_error' },
} as const satisfies Record<ErrorCode, Wire>;

describe('errorResponse()', () => {
  for (const code of ERROR_CODES) {
    it(`writes ${code} as the table says (E4, api.md 6.2)`, async () => {
      const { status, headers, source, ...wire }: Wire = WIRE[code];
      const response = errorResponse(code, 'why "not"');
      assert.equal(response.status, status);
      const body = errorText(code, 'why "not"');
      assert.deepEqual(Object.fromEntries(response.headers), {
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(body.length),
        ...headers,
      });
      assert.equal(await response.text(), body);
      const error = { ...wire, message: 'why "not"', param: null, source: source ?? 'router' };
      assert.deepEqual(JSON.parse(body), { type: 'error', error });
      assert.ok(!errorText(code, 'a\nb').includes('\n'));
    });
  }

  it('answers with no status that makes clients repeat a request by themselves (E8)', () => {
    for (const code of ERROR_CODES) {
      const { status, headers } = errorResponse(code, '');
      assert.ok(status !== 408 && status !== 409);
      if (status === 503) assert.notEqual(headers.get('retry-after'), '0');
    }
  });
});

describe('toRouterError()', () => {
  it('takes a RouterError as it is, and says nothing of anything else (R-207)', () => {
    const known = new RouterError('model_forbidden', 'no');
    assert.equal(toRouterError(known), known);
    for (const thrown of [new TypeError('secret'), 'secret', undefined, { code: 'unauthorized', message: 'secret' }]) {
      const error = toRouterError(thrown);
      assert.equal(error.code, 'internal_error');
      assert.ok(!error.message.includes('secret'));
      assert.equal(error.cause, thrown);
    }
  });
});

/** `fetch` for an SDK: every request goes to the site, and nothing is followed or waited for. */
function fetchOf(site: TestRouter) {
  return (url: unknown, init?: RequestInit) => {
    const request = new Request(String(url), init);
    request.headers.set('host', 'site.example.com');
    return Promise.resolve(site.fetch(request, NO_CONNECTION));
  };
}

const BASE = 'https://site.example.com';

function openai(site: TestRouter, apiKey: string = KEYS['key-1']): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${BASE}/v1`, maxRetries: 0, fetch: fetchOf(site) });
}

function anthropic(site: TestRouter, apiKey: string = KEYS['key-1']): Anthropic {
  return new Anthropic({ apiKey, baseURL: BASE, maxRetries: 0, fetch: fetchOf(site) });
}

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => assert.fail('the call succeeded'),
    (error: unknown) => error,
  );
}

describe('the SDKs', () => {
  const message = { role: 'user', content: 'hi' } as const;

  const cases: readonly (readonly [
    what: string,
    site: () => TestRouter,
    key: string,
    model: string,
    expected: { status: number; code: string; type: string; openaiClass: string; anthropicClass: string },
  ])[] = [
    [
      '401',
      siteA,
      'sk-unknown',
      'm',
      {
        status: 401,
        code: 'unauthorized',
        type: 'authentication_error',
        openaiClass: 'AuthenticationError',
        anthropicClass: 'AuthenticationError',
      },
    ],
    [
      '403',
      siteA,
      KEYS['key-2'],
      'm',
      {
        status: 403,
        code: 'model_forbidden',
        type: 'permission_error',
        openaiClass: 'PermissionDeniedError',
        anthropicClass: 'PermissionDeniedError',
      },
    ],
    [
      '404',
      siteA,
      KEYS['key-1'],
      'nowhere',
      {
        status: 404,
        code: 'model_not_found',
        type: 'not_found_error',
        openaiClass: 'NotFoundError',
        anthropicClass: 'NotFoundError',
      },
    ],
    [
      '400',
      siteA,
      KEYS['key-1'],
      '',
      {
        status: 400,
        code: 'request_invalid',
        type: 'invalid_request_error',
        openaiClass: 'BadRequestError',
        anthropicClass: 'BadRequestError',
      },
    ],
    [
      '503',
      () => siteB({ agents: [{ models: ['x'], down: true }] }),
      KEYS['key-1'],
      'x',
      {
        status: 503,
        code: 'no_agents_available',
        type: 'overloaded_error',
        openaiClass: 'InternalServerError',
        anthropicClass: 'ServiceUnavailableError',
      },
    ],
    [
      '307 that is not followed',
      siteA,
      KEYS['key-1'],
      'm',
      { status: 307, code: 'model_redirected', type: 'api_error', openaiClass: 'APIError', anthropicClass: 'APIError' },
    ],
  ];
  for (const [what, site, key, model, expected] of cases) {
    const { status, code, type, openaiClass, anthropicClass } = expected;

    it(`openai reads status, code, type and message of a ${what} (E4)`, async () => {
      const error = await thrownBy(openai(site(), key).chat.completions.create({ model, messages: [message] }));
      assert.ok(error instanceof OpenAI.APIError);
      assert.equal(error.constructor.name, openaiClass);
      assert.deepEqual([error.status, error.code, error.type, error.param], [status, code, type, null]);
      assert.ok(error.message.length > String(status).length + 5, error.message);
    });

    it(`@anthropic-ai/sdk reads status, type and message of a ${what} (E4)`, async () => {
      const error = await thrownBy(
        anthropic(site(), key).messages.create({ model, max_tokens: 1, messages: [message] }),
      );
      assert.ok(error instanceof Anthropic.APIError);
      assert.equal(error.constructor.name, anthropicClass);
      const body = error.error as { type: string; error: Record<string, unknown> };
      assert.deepEqual(
        [error.status, body.type, body.error['type'], body.error['code']],
        [status, 'error', type, code],
      );
      assert.ok(String(body.error['message']).length > 5);
    });
  }

  it('start again at the original URL when a token is refused, and succeed with a new one (E2)', async () => {
    for (const family of ['openai', 'anthropic'] as const) {
      const [a, b] = [siteA(), siteB()];
      const asked: string[] = [];
      // Follows as fetch does: another host takes Authorization away. The first token at B has been used already.
      const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
        const first = await fetchOf(a)(url, init);
        asked.push('A');
        const location = String(first.headers.get('location'));
        if (asked.length === 1) await fetchOf(b)(location, { method: 'POST', body: String(init?.body) });
        const headers = new Headers(init?.headers);
        headers.delete('authorization');
        const second = await fetchOf(b)(location, { ...init, headers });
        asked.push(`B ${second.status}`);
        // So that the SDK does not wait before it starts again.
        second.headers.set('retry-after-ms', '1');
        return second;
      };
      const options = { apiKey: KEYS['key-1'], maxRetries: 1, fetch };
      const call =
        family === 'openai'
          ? new OpenAI({ ...options, baseURL: `${BASE}/v1` }).chat.completions.create({
              model: 'm',
              messages: [message],
            })
          : new Anthropic({ ...options, baseURL: BASE }).messages.create({
              model: 'm',
              max_tokens: 1,
              messages: [message],
            });
      await call;
      assert.deepEqual(asked, ['A', 'B 401', 'A', 'B 200'], family);
    }
  });

  it('list models and read one whose ID has a slash (E10)', async () => {
    const site = siteA({ agents: [{ models: ['org/model:v1'] }] });
    const listed: string[] = [];
    for await (const { id } of openai(site).models.list()) listed.push(id);
    assert.deepEqual(listed, ['org/model:v1', 'm', 'emb', 'rr']);
    assert.equal((await openai(site).models.retrieve('org/model:v1')).id, 'org/model:v1');
  });
});

describe('an engine’s finding against the request', () => {
  it('comes back with its status in the body of E4 when it is no JSON, as the backend’s word (E8)', async () => {
    const engine = async () => new Response('max_tokens is too large', { status: 422 });
    const response = await follow(siteB({ engine }), tokenForB());
    assert.equal(response.status, 422);
    assert.deepEqual(await errorOf(response), {
      type: 'invalid_request_error',
      message: 'max_tokens is too large',
      code: 'request_invalid',
      param: null,
      source: 'backend',
    });
  });

  it('comes back as it is when it is JSON (E8)', async () => {
    const engine = async () => Response.json({ detail: 'no' }, { status: 400 });
    const response = await siteB({ engine }).ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(`${response.status} ${await response.text()}`, '400 {"detail":"no"}');
  });
});
