// What this hostname reaches, model by model: those of the agents here, those the map places in reach, and the aliases. As
// data, and as the JSON of a listing.

import type { Agent } from '../agents/agent.ts';
import type { Steps } from '../lib/steps.ts';
import { unixSeconds } from '../lib/timestamp.ts';
import { resolveAlias } from '../routing/alias.ts';
import { ENDPOINTS } from '../routing/endpoint.ts';
import type { Kind } from '../site/kind.ts';
import { ownScope, scopeIncludes } from '../site/scope.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { SiteId } from '../site/site.ts';
import { currentMap, modelsOf } from './model-aliases.ts';
import type { RouterPorts } from './router-ports.ts';

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
  /** The one map of the whole listing, however many turns it takes. */
  readonly map: SiblingMap;
  readonly local: ReadonlyMap<string, Listed>;
  readonly placed: Placed;
}

/** Whether whoever asks may use a model. */
export type MayUse = (model: string) => boolean;

/** The models served here, those only placed elsewhere, and the aliases; undefined stands for what may not be used. */
export function* visibleModels(
  ports: RouterPorts,
  mayUse: MayUse,
  known: Known,
): Generator<Listed | undefined, void, undefined> {
  for (const model of known.local.values()) yield mayUse(model.id) ? model : undefined;
  for (const model of known.placed.values()) {
    yield !known.local.has(model.id) && mayUse(model.id) ? model : undefined;
  }
  for (const id of ports.aliases.current().keys()) yield readAlias(ports, mayUse, known, id);
}

/** As of now. */
export async function knownModels(ports: RouterPorts): Promise<Known> {
  const map = currentMap(ports);
  const placed = await placedInScope(ports, map);
  return { map, local: new Map(ports.agents.models().map((model) => [model.id, model])), placed };
}

/** The model or alias of that name, if it may be used. */
export function findModel(ports: RouterPorts, mayUse: MayUse, known: Known, id: string): Listed | undefined {
  const real = known.local.get(id) ?? known.placed.get(id);
  return real !== undefined && mayUse(id) ? real : readAlias(ports, mayUse, known, id);
}

/**
 * An alias as its callers see it: with capability and agents of the model it resolves to now, of whatever kind that is.
 * Undefined when the key may use none of its models, when a real model has its name, and when there is no such alias.
 */
function readAlias(ports: RouterPorts, mayUse: MayUse, { map, local, placed }: Known, id: string): Listed | undefined {
  const models = modelsOf(ports, map, id)?.filter(mayUse) ?? [];
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
export function* formatList(models: Iterable<Listed | undefined>): Generator<string, void, undefined> {
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
async function placedInScope({ redirect, turns }: RouterPorts, map: SiblingMap): Promise<Placed> {
  if (redirect === undefined) return new Map();
  const held = placedByMap.get(map);
  if (held !== undefined) return held;
  const placed = Promise.resolve(turns.complete(listPlaced(map, redirect.siteId)));
  placedByMap.set(map, placed);
  // One failure must not stand for as long as the map.
  placed.catch(() => placedByMap.delete(map));
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

export function formatModel({ id, capability, agents, aliasFor }: Listed, more: object = {}): object {
  const settings = agents.map(({ setting }) => setting);
  const summary = {
    total: agents.length,
    healthy: agents.filter(isHealthy).length,
    total_capacity: settings.reduce((sum, { capacity }) => sum + capacity, 0),
    engines: [...new Set(settings.map(({ engine }) => engine))],
    regions: [...new Set(settings.flatMap(({ region }) => region ?? []))],
  };
  return {
    id,
    object: 'model',
    pretty_name: settings.find(({ prettyName }) => prettyName !== undefined)?.prettyName,
    info: settings.find(({ info }) => info !== undefined)?.info,
    capability,
    hide_llm: settings.some(({ isHidden }) => isHidden) || undefined,
    alias_for: aliasFor,
    agents: { ...summary, ...more },
  };
}

export function formatAgent(agent: Agent): object {
  const { id, engine, region, organization, machine, capacity } = agent.setting;
  const lastSeen = unixSeconds(agent.lastSeenMs);
  return {
    peer_id: id,
    engine,
    region,
    organization,
    machine,
    capacity,
    is_healthy: isHealthy(agent),
    last_seen: lastSeen,
  };
}
