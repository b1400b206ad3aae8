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

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RouterError';
    this.code = code;
  }
}
