// The one door for agents that are described in a document: the YAML file of an operator and the JSON of the admin API,
// with the same fields and rules. Whatever passes it is complete and bounded, and is not checked again.

import { Buffer } from 'node:buffer';
import * as v from 'valibot';
import { fault, ok, type Result } from '../lib/result.ts';
import { type Broken, describeBroken, locate, toBroken, toPlain } from '../lib/schema-faults.ts';
import { complete } from '../lib/steps.ts';
import { parseStrictJson, shortDocument } from '../lib/strict-json.ts';
import { parseStrictYaml } from '../lib/strict-yaml.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { AgentId, COMMON_FIELDS, EngineKey, ID_RULE, KeyFile, strict } from './agent-fields.ts';
import type { AgentSetting } from './agent-setting.ts';
import { ENGINES } from './engines/engines.ts';
import { AGENTS_MAX } from './registry.ts';

/** Of the file: what `readTextFile` reads at most. */
export const AGENTS_FILE_MAX_BYTES = 1_048_576;
/** Of a push: a thousand models of the longest names are about 260 KB. */
export const AGENT_PUSH_MAX_BYTES = 524_288;

const MAX_DEPTH = 6;
const JSON_LIMITS = shortDocument(MAX_DEPTH, AGENT_PUSH_MAX_BYTES);

const FileAgent = strict({ id: AgentId, ...COMMON_FIELDS, api_key_file: v.optional(KeyFile) });
const PushedAgent = strict({ id: v.optional(AgentId), ...COMMON_FIELDS, api_key: v.optional(EngineKey) });

const LIST_RULE = `must be a list of at most ${AGENTS_MAX} agents`;
const AgentsFile = strict({
  agents: v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= AGENTS_MAX, LIST_RULE),
    v.array(FileAgent),
  ),
});

type Fields = Omit<v.InferOutput<typeof PushedAgent>, 'id' | 'api_key'>;

/** The key that a file holds; the fault tells why there is none, and nothing of the contents. */
export type ReadKey = (path: string) => Result<string, string>;

/**
 * Reads `agents:` with a list. Faults are lines such as `line 3, column 18: agents[0].backend_url: URL must …`, at least
 * one. `agents: []` is no agents; an empty file, as an editor leaves one for a moment, is refused.
 */
export function parseAgentsFile(text: string, readKey: ReadKey): Result<readonly AgentSetting[], readonly string[]> {
  if (Buffer.byteLength(text) > AGENTS_FILE_MAX_BYTES) return fault([`larger than ${AGENTS_FILE_MAX_BYTES} bytes`]);
  const document = parseStrictYaml(text, { depth: MAX_DEPTH });
  if (!document.ok) return fault(document.fault.map((at) => `line ${at.line}, column ${at.column}: ${at.rule}`));
  const agents = readFileAgents(toPlain(document.value.value), readKey);
  return agents.ok ? agents : fault(tellFaults(agents.fault, (broken) => locate(document.value, broken)));
}

/**
 * Reads the body of `PUT /admin/agents/{id}`, and judges that `id` too. Faults are lines such as `capacity: must be …`, at
 * least one.
 */
export function parsePushedAgent(bytes: Uint8Array, id: string): Result<AgentSetting, readonly string[]> {
  if (bytes.length > AGENT_PUSH_MAX_BYTES) return fault([`body: larger than ${AGENT_PUSH_MAX_BYTES} bytes`]);
  const document = complete(parseStrictJson(bytes, { limits: JSON_LIMITS }));
  if (!document.ok) return fault([`body: ${document.fault}`]);
  const parsed = v.safeParse(PushedAgent, toPlain(document.value));
  if (!parsed.success) return fault(tellFaults(parsed.issues.map(toBroken), describeBroken));
  const { id: named = id, api_key: apiKey, ...fields } = parsed.output;
  const rules = [
    ...(v.is(AgentId, id) ? [] : [{ path: ['id'], rule: ID_RULE }]),
    ...(named === id ? [] : [{ path: ['id'], rule: 'must be the ID of the path, or left out' }]),
    ...capabilityFault(fields),
  ];
  return rules.length === 0 ? ok(settingOf(id, fields, apiKey)) : fault(tellFaults(rules, describeBroken));
}

function readFileAgents(document: unknown, readKey: ReadKey): Result<readonly AgentSetting[], readonly Broken[]> {
  const parsed = v.safeParse(AgentsFile, document);
  if (!parsed.success) return fault(parsed.issues.map(toBroken));
  const faults: Broken[] = [];
  const firstOf = new Map<string, number>();
  const settings = parsed.output.agents.map(({ id, api_key_file: keyFile, ...fields }, index) => {
    const refuse = ({ path, rule }: Broken) => void faults.push({ path: ['agents', index, ...path], rule });
    capabilityFault(fields).forEach(refuse);
    const first = firstOf.get(id);
    if (first !== undefined) refuse({ path: ['id'], rule: `is that of agents[${first}] already` });
    firstOf.set(id, first ?? index);
    const key = keyFile === undefined ? ok(undefined) : readEngineKey(keyFile, readKey);
    if (!key.ok) refuse({ path: ['api_key_file'], rule: key.fault });
    return settingOf(id, fields, key.ok ? key.value : undefined);
  });
  return faults.length === 0 ? ok(settings) : fault(faults);
}

function readEngineKey(path: string, readKey: ReadKey): Result<string, string> {
  const text = readKey(path);
  if (!text.ok) return text;
  const parsed = v.safeParse(EngineKey, text.value.trim());
  return parsed.success ? ok(parsed.output) : fault(`the file's text ${parsed.issues[0].message}`);
}

function capabilityFault({ engine, capability }: Fields): readonly Broken[] {
  const { capabilities } = ENGINES[engine];
  if (capabilities.includes(capability)) return [];
  return [{ path: ['capability'], rule: `of ${engine} must be one of ${capabilities.join(', ')}, not ${capability}` }];
}

function settingOf(id: string, fields: Fields, apiKey: string | undefined): AgentSetting {
  return Object.freeze({
    id,
    engine: fields.engine,
    backendUrl: fields.backend_url,
    capability: fields.capability,
    models: fields.models,
    capacity: fields.capacity,
    region: fields.region,
    tags: fields.tags,
    organization: fields.organization,
    machine: fields.machine,
    gpuModel: fields.gpu_model,
    healthPath: fields.health_path,
    apiKey,
    prettyName: fields.llm_pretty_name,
    info: fields.llm_info,
    isHidden: fields.hide_llm,
    deploymentId: fields.deployment_id,
    replicaId: fields.replica_id,
  });
}
