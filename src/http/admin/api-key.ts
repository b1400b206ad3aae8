// `/admin/api-keys/{id}`: one key of the registry, written and read alone (api.md, section 10). The version is still that
// of the whole registry.

import type { Context, Handler } from 'hono';
import { isWaitingForKeys } from '../../auth/authenticate.ts';
import { formatKey, isKeyVersion, KEY_MAX_BYTES, parseKeyUpsert } from '../../auth/key-document.ts';
import { NOT_JSON } from '../../auth/key-push.ts';
import { KEYS_MAX, type KeyRegistry, type UpsertFault } from '../../auth/key-registry.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { decodeUtf8 } from '../../lib/utf8.ts';
import { adminError, jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';
import { INACTIVE, registryOf, TOO_MANY_WRITES, warnOfUnknown } from './api-keys.ts';
import { whyContradictory } from './key-policy-check.ts';

type OneKey = Handler<RouterEnv, '/admin/api-keys/:id'>;

const BLANK_ID = 'id: must not be blank';

/** `GET /{id}`: `{"key": …}`, its hash left empty; 404 when there is none. */
export function readKey(ports: RouterPorts): OneKey {
  return (c) => {
    const registry = registryOf(ports);
    if (registry === undefined) return adminError(501, INACTIVE);
    const id = c.req.param('id');
    if (isBlank(id)) return adminError(400, BLANK_ID);
    const key = registry.byId(id);
    return key === undefined ? adminError(404, 'no API key of this ID') : jsonResponse(200, { key: formatKey(key) });
  };
}

/** `PUT /{id}`: the whole key, new or in place of the held one; 400, or 409 for a lower version, and nothing changes. */
export function putKey(ports: RouterPorts): OneKey {
  return async (c) => {
    const registry = registryOf(ports);
    if (registry === undefined) return adminError(501, INACTIVE);
    const body = await readAdminBody(ports, c, KEY_MAX_BYTES);
    if (!body.ok) return body.fault;
    const accept = () => acceptKey(ports, registry, c.req.param('id'), body.value);
    return (await ports.limitWrites.run(body.value.byteLength, accept)) ?? TOO_MANY_WRITES();
  };
}

async function acceptKey(ports: RouterPorts, registry: KeyRegistry, id: string, body: Uint8Array): Promise<Response> {
  const document = parseJson(body);
  if (!document.ok) return reject(ports, document.fault);
  const parsed = parseKeyUpsert(document.value, id);
  if (!parsed.ok) return reject(ports, parsed.fault);
  const { version, key, unknownFields } = parsed.value;
  const contradiction = await whyContradictory(ports, [key], ports.policies);
  if (contradiction !== undefined) return reject(ports, contradiction);
  const wasWaiting = isWaitingForKeys(ports.auth);
  const put = registry.upsert(version, key);
  if (!put.ok) return put.fault.reason === 'stale' ? stale(put.fault.currentVersion) : reject(ports, whyNot(put.fault));
  ports.log.info('Put API key', { id, version });
  warnOfUnknown(ports, unknownFields);
  if (wasWaiting) ports.log.info('Ready: the first API keys are there');
  await ports.kept?.keyChanged(id);
  return jsonResponse(200, { ok: true });
}

/** `DELETE /{id}?version=`: 200 also when there was no such key; 409 for a lower version. */
export function deleteKey(ports: RouterPorts): OneKey {
  return async (c) => {
    const registry = registryOf(ports);
    if (registry === undefined) return adminError(501, INACTIVE);
    return (await ports.limitWrites.run(0, () => removeKey(ports, registry, c))) ?? TOO_MANY_WRITES();
  };
}

async function removeKey(
  ports: RouterPorts,
  registry: KeyRegistry,
  c: Context<RouterEnv, '/admin/api-keys/:id'>,
): Promise<Response> {
  const version = c.req.query('version') ?? '';
  const id = c.req.param('id');
  if (!isKeyVersion(version)) return adminError(400, 'version: must be in the query, Unicode text of 1 to 256 bytes');
  if (isBlank(id)) return adminError(400, BLANK_ID);
  const deleted = registry.delete(version, id);
  if (!deleted.ok) return stale(deleted.fault.currentVersion);
  ports.log.info('Deleted API key', { id, version, was_there: deleted.value });
  await ports.kept?.keyChanged(id);
  return jsonResponse(200, { ok: true });
}

/** In one go: unlike the strict reader it ignores unknown fields, as a control service expects (api.md §10.1). */
function parseJson(bytes: Uint8Array): Result<unknown, string> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return fault(NOT_JSON);
  try {
    return ok(JSON.parse(text) as unknown);
  } catch {
    // The parser's message may quote the body, which holds key hashes.
    return fault(NOT_JSON);
  }
}

function isBlank(id: string): boolean {
  return id.trim() === '';
}

function stale(currentVersion: string): Response {
  return jsonResponse(409, { error: 'stale version', current_version: currentVersion });
}

function whyNot({ reason }: Exclude<UpsertFault, { reason: 'stale' }>): string {
  return reason === 'full'
    ? `the registry is full: at most ${KEYS_MAX} keys`
    : 'key_hash: another key ID has this hash; delete that one first';
}

/** The rule names a field and no value, so it may stand in the log. */
function reject(ports: RouterPorts, rule: string): Response {
  ports.log.warn('Rejected API key', { rule });
  return adminError(400, rule);
}
