// Reads one `--engine` value: `ENGINE[:CAPABILITY]=URL[#MODEL[,MODEL…]]` (decisions.md, "Agents", 1).

import { isName, NAME_RULE } from '../lib/name.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { CAPABILITIES, type Capability } from '../routing/endpoint.ts';
import { type AgentSetting, DEFAULT_CAPACITY, ENGINE_NAMES, type EngineName } from './agent-setting.ts';
import { formatBackendUrl, parseBackendUrl } from './backend-url.ts';
import { ENGINES } from './engines/engines.ts';

/**
 * The agent of one `--engine`. The fault is the broken rule, without the value: that may hold a password, which the
 * rules refuse but the caller must not print either.
 */
export function parseEngineSetting(text: string): Result<AgentSetting, string> {
  const equals = text.indexOf('=');
  if (equals === -1) return fault('must be ENGINE[:CAPABILITY]=URL[#MODEL[,MODEL…]]');
  const kind = parseKind(text.slice(0, equals));
  if (!kind.ok) return kind;
  const [address = '', ...pinned] = text.slice(equals + 1).split('#');
  const url = parseBackendUrl(address);
  if (!url.ok) return url;
  const models = pinned.length === 0 ? ok([]) : parseModels(pinned.join('#'));
  if (!models.ok) return models;
  const { engine, capability } = kind.value;
  return ok({
    id: agentId(engine, url.value),
    engine,
    capability,
    backendUrl: formatBackendUrl(url.value),
    models: models.value,
    capacity: DEFAULT_CAPACITY,
  });
}

function parseKind(text: string): Result<{ engine: EngineName; capability: Capability }, string> {
  const [name = '', asked = 'llm', ...more] = text.split(':');
  const engine = ENGINE_NAMES.find((known) => known === name);
  if (engine === undefined) return fault(`ENGINE must be one of ${ENGINE_NAMES.join(', ')}`);
  const capability = CAPABILITIES.find((known) => known === asked);
  if (capability === undefined || more.length > 0) return fault(`CAPABILITY must be one of ${CAPABILITIES.join(', ')}`);
  const { capabilities } = ENGINES[engine];
  if (!capabilities.includes(capability)) {
    return fault(`CAPABILITY of ${engine} must be one of ${capabilities.join(', ')}, not ${capability}`);
  }
  return ok({ engine, capability });
}

function parseModels(text: string): Result<readonly string[], string> {
  const models = text.split(',');
  if (models.includes('')) return fault('MODEL must not be empty');
  if (!models.every(isName)) return fault(`MODEL ${NAME_RULE}`);
  if (new Set(models).size < models.length) return fault('MODEL must not be named twice');
  return ok(models);
}

/** `ENGINE-host-port`: stable over restarts, so that metrics and logs of one engine stay together. */
function agentId(engine: EngineName, url: URL): string {
  const port = url.port === '' ? defaultPort(url) : url.port;
  return `${engine}-${url.hostname.replace(/^\[|\]$/g, '')}-${port}`;
}

function defaultPort(url: URL): string {
  return url.protocol === 'https:' ? '443' : '80';
}
