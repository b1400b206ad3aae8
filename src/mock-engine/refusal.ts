// The engine's errors in both dialects: vLLM's for OpenAI paths, Anthropic's for `/v1/messages`.

export type Dialect = 'openai' | 'anthropic';

export type RefusalStatus = 400 | 404 | 500 | 503;

const TYPES: Readonly<Record<RefusalStatus, Readonly<Record<Dialect, string>>>> = {
  400: { openai: 'BadRequestError', anthropic: 'invalid_request_error' },
  404: { openai: 'NotFoundError', anthropic: 'not_found_error' },
  500: { openai: 'InternalServerError', anthropic: 'api_error' },
  503: { openai: 'ServiceUnavailableError', anthropic: 'overloaded_error' },
};

/** `/v1/messages` and what is below it speak Anthropic, everything else OpenAI. */
export function dialectOf(path: string): Dialect {
  return path === '/v1/messages' || path.startsWith('/v1/messages/') ? 'anthropic' : 'openai';
}

/** The error answer; `message` is for the client. */
export function refuse(dialect: Dialect, status: RefusalStatus, message: string): Response {
  const type = TYPES[status][dialect];
  const body =
    dialect === 'openai'
      ? { error: { message, type, param: null, code: status } }
      : { type: 'error', error: { type, message } };
  return Response.json(body, { status });
}
