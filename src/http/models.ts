// `GET /v1/models` and one model of it: what this hostname reaches, as far as the caller may use it (api.md, 12; E10).

import type { Context, Handler } from 'hono';
import type { Agent } from '../agents/agent.ts';
import { authenticate, type Caller, mayUseModel } from '../auth/authenticate.ts';
import { readCredentials } from '../auth/credentials.ts';
import { RouterError } from '../errors.ts';
import type { Steps } from '../lib/steps.ts';
import { resolveAlias } from '../routing/alias.ts';
import { ENDPOINTS } from '../routing/endpoint.ts';
import type { Kind } from '../site/kind.ts';
import { ownScope, scopeIncludes } from '../site/scope.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { SiteId } from '../site/site.ts';
import { currentMap, modelsOf } from './model-aliases.ts';
import { piecewiseResponse } from './piecewise.ts';
import { jsonResponse } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';

interface Listed {
  readonly id: string;
  /** Undefined for an alias of a model that is not known here. */
  readonly capability: string | undefined;
  /** Empty for a model that only a sibling site serves. */
  readonly agents: readonly Agent[];
  /** Of an alias: its models that the key may use, in the operator's order. */
  readonly aliasFor?: readonly string[];
}

type Placed = ReadonlyMap<string, Listed>;

/** What has a name here: the models of the agents, and those that the map places within this site's default scope. */
interface Known {
  readonly local: ReadonlyMap<string, Listed>;
  readonly placed: Placed;
}

/** The list, in the order of the agents, the map and the aliases. A redirect token opens no listing (D-26). */
export function listModels(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const caller = authenticated(ports, c);
    const known = await knownModels(ports);
    return piecewiseResponse(ports, c, formatList(visibleModels(ports, caller, known)));
  };
}

/** One model with its agents; the ID may hold `/`, raw or percent-encoded. Unknown and forbidden look the same: 404. */
export function readModel(ports: RouterPorts): Handler<RouterEnv, '/v1/models/:id{.+}'> {
  return async (c) => {
    const caller = authenticated(ports, c);
    const id = c.req.param('id');
    const known = await knownModels(ports);
    const real = known.local.get(id) ?? known.placed.get(id);
    const model = real !== undefined && mayUseModel(caller, id) ? real : readAlias(ports, caller, known, id);
    if (model === undefined) throw new RouterError('model_not_found', `The model "${id}" is not known here.`);
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

/** The models served here, those only placed elsewhere, and the aliases; undefined stands for what the key may not use. */
function* visibleModels(
  ports: RouterPorts,
  caller: Caller,
  known: Known,
): Generator<Listed | undefined, void, undefined> {
  for (const model of known.local.values()) yield mayUseModel(caller, model.id) ? model : undefined;
  for (const model of known.placed.values()) {
    yield !known.local.has(model.id) && mayUseModel(caller, model.id) ? model : undefined;
  }
  for (const id of ports.aliases.current().keys()) yield readAlias(ports, caller, known, id);
}

async function knownModels(ports: RouterPorts): Promise<Known> {
  const placed = await placedInScope(ports);
  return { local: new Map(ports.agents.models().map((model) => [model.id, model])), placed };
}

/**
 * An alias as its callers see it: with capability and agents of the model it resolves to now, of whatever kind that is.
 * Undefined when the key may use none of its models, when a real model has its name, and when there is no such alias.
 */
function readAlias(ports: RouterPorts, caller: Caller, { local, placed }: Known, id: string): Listed | undefined {
  const models = modelsOf(ports, currentMap(ports), id)?.filter((model) => mayUseModel(caller, model)) ?? [];
  const model = resolveAlias(models, {
    mayUse: () => true,
    isServedHere: (name) => local.get(name)?.agents.some(isHealthy) === true,
    isPlaced: (name) => placed.has(name),
  });
  if (model === undefined) return undefined;
  const { capability, agents = [] } = local.get(model) ?? placed.get(model) ?? {};
  return { id, capability, agents, aliasFor: models };
}

/** Models looked at in one go, about a millisecond. */
const SLICE_MODELS = 500;

/** The list as JSON text in pieces. */
function* formatList(models: Iterable<Listed | undefined>): Generator<string, void, undefined> {
  let piece = '{"object":"list","data":[';
  let separator = '';
  let lookedAt = 0;
  for (const model of models) {
    lookedAt += 1;
    if (lookedAt % SLICE_MODELS === 0) {
      yield piece;
      piece = '';
    }
    if (model === undefined) continue;
    piece += `${separator}${JSON.stringify(formatModel(model))}`;
    separator = ',';
  }
  yield `${piece}]}`;
}

/** By map, for a map may have 100,000 placements and a client may ask as often as it likes. */
const placedByMap = new WeakMap<SiblingMap, Promise<Placed>>();

/** What the map places within this site's default scope: where a request without a scope header may go. */
async function placedInScope({ redirect, turns }: RouterPorts): Promise<Placed> {
  if (redirect === undefined) return new Map();
  const map = redirect.maps.current();
  const placed = placedByMap.get(map) ?? turns.complete(listPlaced(map, redirect.siteId));
  placedByMap.set(map, placed);
  return placed;
}

function* listPlaced(map: SiblingMap, siteId: SiteId): Steps<Placed> {
  const models = new Map<string, Listed>();
  const scope = ownScope(map.sites.get(siteId));
  if (scope === undefined) return models;
  for (const [index, { model, kind, site }] of map.allPlacements.entries()) {
    if (index % SLICE_MODELS === SLICE_MODELS - 1) yield;
    const place = map.sites.get(site);
    if (models.has(model) || place === undefined || !scopeIncludes(scope, place)) continue;
    models.set(model, { id: model, capability: capabilityOf(kind), agents: [] });
  }
  return models;
}

function capabilityOf(kind: Kind): string {
  return ENDPOINTS.find((endpoint) => endpoint.kind === kind)?.capability ?? kind;
}

function isHealthy({ state }: Agent): boolean {
  return state === 'healthy';
}

function formatModel({ id, capability, agents, aliasFor }: Listed, more: object = {}): object {
  const summary = {
    total: agents.length,
    healthy: agents.filter(isHealthy).length,
    total_capacity: agents.reduce((sum, agent) => sum + agent.setting.capacity, 0),
    engines: [...new Set(agents.map((agent) => agent.setting.engine))],
    regions: [],
  };
  return { id, object: 'model', capability, alias_for: aliasFor, agents: { ...summary, ...more } };
}

function formatAgent(agent: Agent): object {
  const { id, engine, capacity } = agent.setting;
  return { peer_id: id, engine, capacity, is_healthy: isHealthy(agent) };
}
