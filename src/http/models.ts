// `GET /v1/models` and one model of it: what this hostname reaches, as far as the caller may use it (api.md, 12; E10).

import type { Context, Handler } from 'hono';
import type { Agent } from '../agents/agent.ts';
import { authenticate, type Caller, mayUseModel } from '../auth/authenticate.ts';
import { readCredentials } from '../auth/credentials.ts';
import { RouterError } from '../errors.ts';
import { ENDPOINTS } from '../routing/endpoint.ts';
import type { Kind } from '../site/kind.ts';
import { ownScope, scopeIncludes } from '../site/scope.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { SiteId } from '../site/site.ts';
import { jsonResponse } from './respond.ts';
import type { RedirectSite, RouterEnv, RouterPorts } from './router-ports.ts';

interface Listed {
  readonly id: string;
  readonly capability: string;
  /** Empty for a model that only a sibling site serves. */
  readonly agents: readonly Agent[];
}

/** The list, in the order of the agents and then of the map. A redirect token opens no listing (D-26). */
export function listModels(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => {
    const data = visibleModels(ports, authenticated(ports, c)).map((model) => formatModel(model));
    return jsonResponse(200, { object: 'list', data });
  };
}

/** One model with its agents; the ID may hold `/`, raw or percent-encoded. Unknown and forbidden look the same: 404. */
export function readModel(ports: RouterPorts): Handler<RouterEnv, '/v1/models/:id{.+}'> {
  return (c) => {
    const caller = authenticated(ports, c);
    const id = c.req.param('id');
    const model = ports.agents.models().find((local) => local.id === id) ?? placedInScope(ports.redirect).get(id);
    if (model === undefined || !mayUseModel(caller, id))
      throw new RouterError('model_not_found', `The model "${id}" is not known here.`);
    const list = model.agents.map(formatAgent);
    return jsonResponse(200, formatModel(model, list.length === 0 ? {} : { list }));
  };
}

function authenticated(ports: RouterPorts, c: Context<RouterEnv>): Caller {
  const caller = authenticate(ports.auth, readCredentials(c.req.raw.headers, ''), ports.nowMs());
  if (caller === undefined) throw new RouterError('unauthorized', 'unauthorized');
  c.var.record.keyId = caller.keyId;
  return caller;
}

function visibleModels(ports: RouterPorts, caller: Caller): readonly Listed[] {
  const local = ports.agents.models();
  const here = new Set(local.map((model) => model.id));
  const placed = [...placedInScope(ports.redirect).values()].filter((model) => !here.has(model.id));
  return [...local, ...placed].filter((model) => mayUseModel(caller, model.id));
}

/** By map, for a map may have 100,000 placements and a client may ask as often as it likes. */
const placedByMap = new WeakMap<SiblingMap, ReadonlyMap<string, Listed>>();

/** What the map places within this site's default scope: where a request without a scope header may go. */
function placedInScope(redirect: RedirectSite | undefined): ReadonlyMap<string, Listed> {
  if (redirect === undefined) return new Map();
  const map = redirect.maps.current();
  const placed = placedByMap.get(map) ?? listPlaced(map, redirect.siteId);
  placedByMap.set(map, placed);
  return placed;
}

function listPlaced(map: SiblingMap, siteId: SiteId): ReadonlyMap<string, Listed> {
  const models = new Map<string, Listed>();
  const scope = ownScope(map.sites.get(siteId));
  if (scope === undefined) return models;
  for (const { model, kind, site } of map.allPlacements) {
    const place = map.sites.get(site);
    if (models.has(model) || place === undefined || !scopeIncludes(scope, place)) continue;
    models.set(model, { id: model, capability: capabilityOf(kind), agents: [] });
  }
  return models;
}

function capabilityOf(kind: Kind): string {
  return ENDPOINTS.find((endpoint) => endpoint.kind === kind)?.capability ?? kind;
}

function formatModel({ id, capability, agents }: Listed, more: object = {}): object {
  const summary = {
    total: agents.length,
    healthy: agents.filter((agent) => agent.state === 'healthy').length,
    total_capacity: agents.reduce((sum, agent) => sum + agent.setting.capacity, 0),
    engines: [...new Set(agents.map((agent) => agent.setting.engine))],
    regions: [],
  };
  return { id, object: 'model', capability, agents: { ...summary, ...more } };
}

function formatAgent({ setting, state }: Agent): object {
  return { peer_id: setting.id, engine: setting.engine, capacity: setting.capacity, is_healthy: state === 'healthy' };
}
