// HTTP to engines: how it is called, and what it means when no answer comes.

/** One request to an engine. Rejects when no response head arrives. */
export type EngineFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Joins `fetch` with the runtime's options for engines. A redirect by an engine is never followed: it would carry the
 * client's prompt to an address that no operator configured.
 */
export function createEngineFetch(fetch: EngineFetch, runtimeInit: RequestInit): EngineFetch {
  const always: RequestInit = { ...runtimeInit, redirect: 'manual' };
  return (url, init) => fetch(url, { ...init, ...always });
}

/** The system's names for having no way to an engine: nobody listens, no such host, no route. Nothing was sent then. */
const NO_CONNECTION: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The same in the words of Deno's cause. */
const NO_CONNECTION_TEXT = /Connection refused|dns error|No route to host|Network is unreachable/;

/** Why no head arrived: there was no way to the engine, the connection broke, or anything else. */
export type ConnectionFault = 'refused' | 'reset' | 'other';

/** Reads Bun's error codes, and Deno's cause text, which is all it gives (bun.md, section H). */
export function connectionFault(error: unknown): ConnectionFault {
  const code = errorCode(error);
  if (NO_CONNECTION.has(code) || isDenoRefusal(error)) return 'refused';
  return code === 'ECONNRESET' ? 'reset' : 'other';
}

/** The system's name for an error, such as `ECONNREFUSED`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function isDenoRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && NO_CONNECTION_TEXT.test(error.cause.message);
}
