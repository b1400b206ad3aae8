// Every way a request ends without an engine's answer, as code and text for the client. No text names an engine's
// address: the inside of a site is nobody's business outside.

import type { ErrorCode } from '../errors.ts';
import type { Cut } from './request-life.ts';
import type { Target } from './target.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds until the engine wants to be asked again, from 1 to {@link RETRY_AFTER_MAX_S}, if it said so. */
  readonly retryAfterS?: number | undefined;
}

/** An engine that wants to be left alone for longer is not believed. */
const RETRY_AFTER_MAX_S = 3_600;

const CUT_FAILURES: Readonly<Record<Exclude<Cut, 'stream_idle'>, Failure>> = {
  client_gone: { code: 'client_gone', message: 'The client left before the answer.' },
  client_stalled: { code: 'request_timeout', message: 'The answer was not read within the idle timeout.' },
  request_timeout: { code: 'request_timeout', message: 'No complete answer within the request timeout.' },
  stream_too_long: { code: 'request_timeout', message: 'The stream was longer than this router allows.' },
  shutdown: { code: 'shutting_down', message: 'The router is shutting down.' },
};

/**
 * Why an answer ended early: by the router's cut or, without one, by `target`, whose connection ended in the middle of it.
 * Before its first byte or after it.
 */
export function earlyEnd(cut: Cut | undefined, target: Target['kind'] = 'engine'): Failure {
  if (cut === undefined) return { code: 'backend_error', message: `The ${target} broke off its answer.` };
  if (cut !== 'stream_idle') return CUT_FAILURES[cut];
  return { code: 'request_timeout', message: `The ${target} sent nothing within the idle timeout.` };
}

/** The request waited for a slot until it was cut. */
export function waitEnded(cut: Cut, model: string): Failure {
  return cut === 'request_timeout'
    ? { code: 'request_timeout', message: `No agent of the model "${model}" was free within the request timeout.` }
    : earlyEnd(cut);
}

/** What an engine's failed answer says, as far as the client is told. */
export interface FailedAnswer {
  /** Undefined when no whole answer came. */
  readonly status: number | undefined;
  readonly message: string;
  readonly retryAfter?: string | undefined;
}

/** The last try failed: 503 when the engine was only busy or loading, else 502, with the engine's own words (E8). */
export function triesFailed({ status, message, retryAfter }: FailedAnswer): Failure {
  if (status !== 429 && status !== 503) return { code: 'backend_error', message };
  return { code: 'backend_unavailable', message, retryAfterS: secondsIn(retryAfter ?? '') };
}

/** A date would need the engine's clock, and 0 is a promise that nobody keeps (E8): neither is passed on. */
function secondsIn(retryAfter: string): number | undefined {
  const seconds = /^[1-9][0-9]{0,3}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return seconds !== undefined && seconds <= RETRY_AFTER_MAX_S ? seconds : undefined;
}

/** None could be tried (E8). */
export function noneTried(model: string, code: 'no_capacity' | 'no_agents_available'): Failure {
  return code === 'no_capacity'
    ? { code, message: `All agents of the model "${model}" are busy.` }
    : { code, message: `No agent of the model "${model}" is available.` };
}

/** The model is here, but behind engines without this endpoint: no agent that recovers would change that. */
export function noneServes(model: string, path: string): Failure {
  return { code: 'model_not_found', message: `The engines of the model "${model}" have no ${path}.` };
}
