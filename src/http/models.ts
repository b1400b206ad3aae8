// `GET /v1/models` and one model of it: what this hostname reaches, as far as the caller may use it (api.md, 12; E10).

import type { Context, Handler } from 'hono';
import { authenticate, mayUseModel } from '../auth/authenticate.ts';
import { readCredentials } from '../auth/credentials.ts';
import { RouterError } from '../errors.ts';
import {
  findModel,
  formatAgent,
  formatList,
  formatModel,
  knownModels,
  type MayUse,
  visibleModels,
} from './model-listing.ts';
import { piecewiseResponse } from './piecewise.ts';
import { jsonResponse } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';

/** The list, in the order of the agents, the map and the aliases. A redirect token opens no listing (D-26). */
export function listModels(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => listFor(ports, c, callerOf(ports, c));
}

/** One model with its agents; the ID may hold `/`, raw or percent-encoded. Unknown and forbidden look the same: 404. */
export function readModel(ports: RouterPorts): Handler<RouterEnv, '/v1/models/:id{.+}'> {
  return (c) => readFor(ports, callerOf(ports, c), c.req.param('id'));
}

export async function listFor(ports: RouterPorts, c: Context<RouterEnv>, mayUse: MayUse): Promise<Response> {
  const known = await knownModels(ports);
  return piecewiseResponse(ports, c, formatList(visibleModels(ports, mayUse, known)));
}

/** Throws `model_not_found`. */
export async function readFor(ports: RouterPorts, mayUse: MayUse, id: string): Promise<Response> {
  const known = await knownModels(ports);
  const model = findModel(ports, mayUse, known, id);
  if (model === undefined) throw new RouterError('model_not_found', `The model "${id}" is not known here.`);
  const list = model.agents.map(formatAgent);
  return jsonResponse(200, formatModel(model, list.length === 0 ? {} : { list }));
}

function callerOf(ports: RouterPorts, c: Context<RouterEnv>): MayUse {
  const caller = authenticate(ports.auth, readCredentials(c.req.raw.headers, ''), ports.nowMs());
  if (caller === undefined) throw new RouterError('unauthorized', 'unauthorized');
  c.env.record.keyId = caller.keyId;
  return (model) => mayUseModel(caller, model);
}
