// Every way a request ends without an engine's answer, as code and text for the client. No text names an engine's
// address: the inside of a site is nobody's business outside.

import type { ErrorCode } from '../errors.ts';
import type { Cut } from './request-life.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

const CUT_FAILURES: Readonly<Record<Cut, Failure>> = {
  client_gone: { code: 'client_gone', message: 'The client left before the answer.' },
  client_stalled: { code: 'request_timeout', message: 'The answer was not read within the idle timeout.' },
  request_timeout: { code: 'request_timeout', message: 'No complete answer within the request timeout.' },
  stream_idle: { code: 'request_timeout', message: 'The engine sent nothing within the idle timeout.' },
  shutdown: { code: 'shutting_down', message: 'The router is shutting down.' },
};

/** The engine's connection ended in the middle of its answer. */
const BROKEN_STREAM: Failure = { code: 'backend_error', message: 'The engine broke off its answer.' };

/** Why an answer ended early: by the router's cut or, without one, by the engine. Before its first byte or after it. */
export function earlyEnd(cut: Cut | undefined): Failure {
  return cut === undefined ? BROKEN_STREAM : CUT_FAILURES[cut];
}

/** The request waited for a slot until it was cut. */
export function waitEnded(cut: Cut, model: string): Failure {
  return cut === 'request_timeout'
    ? { code: 'request_timeout', message: `No agent of the model "${model}" was free within the request timeout.` }
    : CUT_FAILURES[cut];
}

/** The last try failed: 503 when the engine was only busy or loading, else 502, with the engine's own words (E8). */
export function triesFailed(status: number | undefined, message: string): Failure {
  return { code: status === 429 || status === 503 ? 'backend_unavailable' : 'backend_error', message };
}

/** None could be tried (E8). */
export function noneTried(model: string, areAllFull: boolean): Failure {
  return areAllFull
    ? { code: 'no_capacity', message: `All agents of the model "${model}" are busy.` }
    : { code: 'no_agents_available', message: `No agent of the model "${model}" is available.` };
}

/** The model is here, but behind engines without this endpoint: no agent that recovers would change that. */
export function noneServes(model: string, path: string): Failure {
  return { code: 'model_not_found', message: `The engines of the model "${model}" have no ${path}.` };
}
