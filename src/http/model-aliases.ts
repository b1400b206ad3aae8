// What an alias stands for in one request: the table, and the facts of key, agents and map that decide. A real model
// always wins over an alias of its name, whichever came first.

import { mayUseModel } from '../auth/authenticate.ts';
import { type AliasFacts, resolveAlias } from '../routing/alias.ts';
import { CAPABILITIES } from '../routing/endpoint.ts';
import { KINDS } from '../site/kind.ts';
import { scopeIncludes } from '../site/scope.ts';
import { EMPTY_MAP, type SiblingMap } from '../site/sibling-map.ts';
import { type Admitted, type Arrival, forbidden } from './entrance.ts';
import type { RouterPorts } from './router-ports.ts';

type AliasPorts = Pick<RouterPorts, 'agents' | 'aliases' | 'log' | 'redirect'>;

/** The model that a new request is routed on: what its alias resolves to, else the name as sent. Throws 403. */
export function resolveModel(ports: RouterPorts, arrival: Arrival, admitted: Admitted, sent: string): string {
  const models = modelsOf(ports, arrival.map, sent);
  if (models === undefined) return sent;
  arrival.record.alias = sent;
  const model = resolveAlias(models, aliasFacts(ports, arrival, admitted));
  if (model === undefined) throw forbidden(sent);
  return model;
}

function aliasFacts(ports: RouterPorts, { endpoint, map }: Arrival, { caller, scope }: Admitted): AliasFacts {
  const here = ports.redirect?.siteId;
  return {
    mayUse: (model) => mayUseModel(caller, model),
    isServedHere: (model) => ports.agents.presence(model, endpoint.capability) === 'healthy',
    isPlaced: (model) =>
      map
        .placedSites(model, endpoint.kind)
        .some(({ site }) => site.id === here || (scope !== undefined && scopeIncludes(scope, site))),
  };
}

/** The models of an alias; undefined when there is none of that name, or a real model has it. */
export function modelsOf(ports: AliasPorts, map: SiblingMap, name: string): readonly string[] | undefined {
  const models = ports.aliases.current().get(name);
  const why = models === undefined ? undefined : whyRealModel(ports, map, name);
  if (why === undefined) return models;
  if (ports.aliases.noteHidden(name)) ports.log.warn('Alias ignored: it would hide a model', { alias: name, why });
  return undefined;
}

/** Why the name is that of a real model: an agent here lists it, healthy or not, or the map places it anywhere. */
export function whyRealModel({ agents }: Pick<RouterPorts, 'agents'>, map: SiblingMap, name: string) {
  if (CAPABILITIES.some((capability) => agents.presence(name, capability) !== 'none')) return 'an agent here serves it';
  return KINDS.some((kind) => map.placedSites(name, kind).length > 0) ? 'the sibling map places it' : undefined;
}

/** The map held now. */
export function currentMap({ redirect }: Pick<RouterPorts, 'redirect'>): SiblingMap {
  return redirect?.maps.current() ?? EMPTY_MAP;
}

/** Warns of every alias that a real model hides by now: after an agent listed its models, or a map came. */
export function warnOfHiddenAliases(ports: AliasPorts): void {
  for (const alias of ports.aliases.current().keys()) modelsOf(ports, currentMap(ports), alias);
}
