// One probe of one engine: is it up, and which models does it serve. An engine that lists no model yet is still
// loading, so health alone is not enough.

import { isName } from '../lib/name.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { AgentSetting } from './agent-setting.ts';
import { parseJson } from './engine-body.ts';
import type { EngineFetch } from './engine-fetch.ts';
import { getFromEngine } from './engine-get.ts';
import { ENGINES } from './engines/engines.ts';

/** Bytes of an answer that are read; a listing above it counts as a failed probe. */
export const PROBE_ANSWER_MAX_BYTES = 1_048_576;
/** Models of one engine that are kept, the first ones of its listing. */
export const AGENT_MODELS_MAX = 1000;

/**
 * The models that can be asked for: the pinned ones, or at least one that the engine lists. The fault names path and
 * cause, such as `GET /health: status 503`. Never rejects; `signal` ends it early.
 */
export async function probeEngine(
  setting: AgentSetting,
  fetch: EngineFetch,
  signal: AbortSignal,
): Promise<Result<readonly string[], string>> {
  const { modelsPath, readModels, ...engine } = ENGINES[setting.engine];
  const healthPath = setting.healthPath ?? engine.healthPath;
  const get = (path: string) => getFromEngine(setting, { path, maxBytes: PROBE_ANSWER_MAX_BYTES }, fetch, signal);
  const health = await get(healthPath);
  if (!health.ok || setting.models.length > 0) return health.ok ? ok(setting.models) : health;
  const listing = modelsPath === healthPath ? health : await get(modelsPath);
  if (!listing.ok) return listing;
  const models = readModels(parseJson(listing.value));
  if (models === undefined) return fault(`GET ${modelsPath}: not a listing of models`);
  // A name that no request may carry, or no log, is not worth keeping.
  const usable = [...new Set(models)].filter(isName).slice(0, AGENT_MODELS_MAX);
  return usable.length > 0 ? ok(usable) : fault(`GET ${modelsPath}: no model listed`);
}
