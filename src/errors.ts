// The closed list of what can go wrong with a request, in the router's own words. It knows no HTTP: http/respond.ts
// maps each code to status, wire code and error type.

/** Every way a request can end without an engine's answer. */
export const ERROR_CODES = [
  'unauthorized',
  'token_refused',
  'model_forbidden',
  'request_invalid',
  'body_too_large',
  'body_timeout',
  'encoding_unsupported',
  'path_unknown',
  'method_not_allowed',
  'model_not_found',
  'input_too_long',
  'rate_limit_exceeded',
  'token_limit_exceeded',
  'concurrency_limit_exceeded',
  'no_agents_available',
  'no_capacity',
  'queue_full',
  'backend_error',
  'backend_unavailable',
  'shutting_down',
  'request_timeout',
  'client_gone',
  'internal_error',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * A request that ends here. `message` is for the client and holds no secret, token, key or body; `cause` is for the
 * application log alone.
 */
export class RouterError extends Error {
  readonly code: ErrorCode;
  /** Seconds after which a client may ask again, when there is a better answer than the code's own. */
  readonly retryAfterS: number | undefined;

  /** Waiting does not help: an SDK should not repeat the request by itself. */
  readonly isPermanent: boolean;

  constructor(code: ErrorCode, message: string, { cause, retryAfterS, isPermanent = false }: RouterErrorDetails = {}) {
    super(message, { cause });
    this.name = 'RouterError';
    this.code = code;
    this.retryAfterS = retryAfterS;
    this.isPermanent = isPermanent;
  }
}

interface RouterErrorDetails {
  readonly cause?: unknown;
  readonly retryAfterS?: number | undefined;
  readonly isPermanent?: boolean;
}
