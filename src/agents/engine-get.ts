// One GET to an engine on the router's own behalf, for health, models and metrics: bounded, never followed elsewhere,
// and with the engine's key if it has one.

import { fault, ok, type Result } from '../lib/result.ts';
import type { AgentSetting } from './agent-setting.ts';
import { readBounded } from './engine-body.ts';
import { type EngineFetch, errorCode } from './engine-fetch.ts';

export interface EngineAsk {
  readonly path: string;
  /** A longer answer is a fault. */
  readonly maxBytes: number;
}

/** The body of a 200. The fault names path and cause, such as `GET /health: status 503`. Never rejects. */
export async function getFromEngine(
  setting: AgentSetting,
  { path, maxBytes }: EngineAsk,
  fetch: EngineFetch,
  signal: AbortSignal,
): Promise<Result<Uint8Array, string>> {
  try {
    const response = await fetch(setting.backendUrl + path, { headers: headersFor(setting), signal });
    const body = await readBounded(response, maxBytes);
    if (response.status !== 200) return fault(`GET ${path}: status ${response.status}`);
    return body.isWhole ? ok(body.bytes) : fault(`GET ${path}: answer above ${maxBytes} bytes`);
  } catch (error) {
    return fault(`GET ${path}: ${signal.aborted ? 'no answer in time' : (errorCode(error) ?? 'connection failed')}`);
  }
}

function headersFor({ apiKey }: AgentSetting): Record<string, string> {
  const encoding = { 'accept-encoding': 'identity' };
  return apiKey === undefined ? encoding : { ...encoding, authorization: `Bearer ${apiKey}` };
}
