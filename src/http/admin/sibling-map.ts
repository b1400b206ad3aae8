// `/admin/sibling-map`: the whole map in one push, and the map as it is held (product page, "Pushing the sibling map").

import { createHash } from 'node:crypto';
import type { Handler } from 'hono';
import { warnAboutMap } from '../../site/map-warnings.ts';
import { parseSiblingMap } from '../../site/parse-sibling-map.ts';
import { formatSiblingMap, type SiblingMap } from '../../site/sibling-map.ts';
import { warnOfHiddenAliases } from '../model-aliases.ts';
import { adminError } from '../respond.ts';
import type { RedirectSite, RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';

const DISABLED = 'cross-site redirect is disabled';

/** `POST`: 200 and the whole map is replaced, or 400, 409, 501 and nothing changes. */
export function pushSiblingMap(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const { redirect } = ports;
    if (redirect === undefined) return adminError(501, DISABLED);
    const body = await readAdminBody(ports, c);
    if (!body.ok) return body.fault;
    return acceptPush(ports, redirect, body.value);
  };
}

/** `GET`: the map with its exact version digits; version 0 and empty lists before the first push. */
export function readSiblingMap(ports: RouterPorts): Handler<RouterEnv> {
  return () =>
    ports.redirect === undefined
      ? adminError(501, DISABLED)
      : jsonText(200, formatSiblingMap(ports.redirect.maps.current()));
}

function acceptPush(ports: RouterPorts, redirect: RedirectSite, body: Uint8Array): Response {
  const parsed = parseSiblingMap(body, { ownSite: redirect.siteId, domains: redirect.domains });
  if (!parsed.ok) {
    ports.log.warn('Rejected sibling map', { rule: parsed.fault });
    return adminError(400, parsed.fault);
  }
  const { version, sites } = parsed.value;
  const before = redirect.maps.current();
  const replaced = redirect.maps.replace(parsed.value);
  if (!replaced.ok) {
    const current = replaced.fault.currentVersion;
    ports.log.warn('Rejected sibling map', { version: String(version), current_version: String(current) });
    return jsonText(409, `{"error":"stale version","current_version":${current}}`);
  }
  ports.log.info('Replaced sibling map', { version: String(version), sites: sites.size });
  if (replaced.value.replayed && replaced.value.changed) {
    const [from, to] = [contentHash(before), contentHash(parsed.value)];
    ports.log.warn('Sibling map changed without a new version', { version: String(version), from, to });
  }
  for (const warning of warnAboutMap(parsed.value, ports.nowMs())) ports.log.warn(warning);
  warnOfHiddenAliases(ports);
  return jsonText(200, `{"ok":true,"version":${version}}`);
}

/** Enough of a SHA-256 over the map as `GET` shows it to compare two sites' logs (D-59). */
function contentHash(map: SiblingMap): string {
  return createHash('sha256').update(formatSiblingMap(map)).digest('hex').slice(0, 16);
}

/** JSON made by hand, because a version up to 2^64−1 must keep its digits (D-58). */
function jsonText(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8' } });
}
