// HTTP to engines: how it is called, and what it means when no answer comes.

/** One request to an engine. Rejects when no response head arrives. */
export type EngineFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Joins `fetch` with the runtime's options for engines. A redirect by an engine is never followed: it would carry the
 * client's prompt to an address that no operator configured.
 */
export function createEngineFetch(fetch: EngineFetch, runtimeInit: RequestInit): EngineFetch {
  return (url, init) => fetch(url, { ...runtimeInit, ...init, redirect: 'manual' });
}

/** Why no head arrived: nobody listens, the connection broke, or anything else. */
export type ConnectionFault = 'refused' | 'reset' | 'other';

/** Reads Bun's error codes, and Deno's cause text, which is all it gives (bun.md, section H). */
export function connectionFault(error: unknown): ConnectionFault {
  switch (errorCode(error)) {
    case 'ECONNREFUSED':
      return 'refused';
    case 'ECONNRESET':
      return 'reset';
    default:
      return isDenoRefusal(error) ? 'refused' : 'other';
  }
}

/** The system's name for an error, such as `ECONNREFUSED`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function isDenoRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.message.includes('Connection refused');
}
