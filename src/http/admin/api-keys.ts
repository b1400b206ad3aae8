// `/admin/api-keys`: the registry of pushed keys, replaced whole and read without hashes (api.md, section 10).

import type { Handler } from 'hono';
import { isWaitingForKeys } from '../../auth/authenticate.ts';
import { formatKeys } from '../../auth/key-document.ts';
import { KEYS_MAX_BYTES, readKeyPush } from '../../auth/key-push.ts';
import type { KeyRegistry } from '../../auth/key-registry.ts';
import { piecewiseResponse } from '../piecewise.ts';
import { adminError, jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';
import { whyContradictory } from './key-policy-check.ts';

export const INACTIVE = 'dynamic key registry not active';

/** More of them wait than may (`PushQueue`). */
export const TOO_MANY_WRITES = (): Response =>
  adminError(503, 'too many changes of keys and policies are being pushed at once', { 'retry-after': '1' });

/**
 * `POST /replace`: all keys at once, or 400 and the held keys stay, also for a lower version; 503 when too many pushes
 * are under way.
 */
export function replaceKeys(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const registry = registryOf(ports);
    if (registry === undefined) return adminError(501, INACTIVE);
    const body = await readAdminBody(ports, c, KEYS_MAX_BYTES);
    if (!body.ok) return body.fault;
    const accept = () => acceptKeys(ports, registry, body.value);
    return (await ports.limitWrites.run(body.value.byteLength, accept)) ?? TOO_MANY_WRITES();
  };
}

async function acceptKeys(ports: RouterPorts, registry: KeyRegistry, body: Uint8Array): Promise<Response> {
  const parsed = await ports.turns.complete(readKeyPush(body));
  if (!parsed.ok) return rejectKeys(ports, parsed.fault);
  const { version, keys, unknownFields } = parsed.value;
  const contradiction = await whyContradictory(ports, keys, ports.policies);
  if (contradiction !== undefined) return rejectKeys(ports, contradiction);
  const wasWaiting = isWaitingForKeys(ports.auth);
  const replaced = registry.replace(version, keys);
  if (!replaced.ok) {
    const { currentVersion } = replaced.fault;
    return rejectKeys(ports, `Cannot replace API keys: version "${version}" is older than "${currentVersion}"`);
  }
  ports.log.info('Replaced API keys', { version, count: replaced.value });
  warnOfUnknown(ports, unknownFields);
  if (wasWaiting) ports.log.info('Ready: the first API keys are there');
  await ports.kept?.keysReplaced();
  return jsonResponse(200, { ok: true, count: replaced.value });
}

/** A misspelt limit is no limit, and only its operator can see that. */
export function warnOfUnknown({ log }: Pick<RouterPorts, 'log'>, fields: readonly string[]): void {
  if (fields.length > 0) log.warn('Ignored unknown fields of API keys', { fields: fields.join(', ') });
}

/** The rule names a path and no value, so it may stand in the log. */
function rejectKeys(ports: RouterPorts, rule: string): Response {
  ports.log.warn('Rejected API keys', { rule });
  return adminError(400, rule);
}

/** `GET /`: every key, enabled or not, in snake_case and with an empty `key_hash` (A2). */
export function listKeys(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => {
    const registry = registryOf(ports);
    return registry === undefined ? adminError(501, INACTIVE) : piecewiseResponse(ports, c, formatKeys(registry.all()));
  };
}

/** `GET /version`: what a control service compares before it pushes. */
export function readKeyVersion(ports: RouterPorts): Handler<RouterEnv> {
  return () => {
    const registry = registryOf(ports);
    if (registry === undefined) return adminError(501, INACTIVE);
    return jsonResponse(200, { version: registry.version(), count: registry.size() });
  };
}

/** Undefined where keys are not pushed: 501. */
export function registryOf(ports: RouterPorts): KeyRegistry | undefined {
  return ports.auth.mode === 'dynamic' ? ports.auth.registry : undefined;
}
