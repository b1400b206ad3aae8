// `/admin/sibling-map`: the whole map in one push, and the map as it is held (product page, "Pushing the sibling map").

import type { Handler } from 'hono';
import { formatSiblingMap } from '../../site/format-sibling-map.ts';
import { warnAboutMap } from '../../site/map-warnings.ts';
import { parseSiblingMap } from '../../site/parse-sibling-map.ts';
import { MAP_MAX_BYTES, type SiblingMap } from '../../site/sibling-map.ts';
import { warnOfHiddenAliases } from '../model-aliases.ts';
import { piecewiseResponse } from '../piecewise.ts';
import { adminError, jsonText } from '../respond.ts';
import type { RedirectSite, RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';
import { PushQueue } from './push-queue.ts';

const DISABLED = 'cross-site redirect is disabled';
const TOO_MANY = 'too many sibling maps are being pushed at once';

/**
 * `POST`: 200 and the whole map is replaced, or 400, 409, 501, 503 and nothing changes. A push
 * that has arrived whole is carried out, also when its client does not wait for the answer.
 */
export function pushSiblingMap(ports: RouterPorts): Handler<RouterEnv> {
  const pushes = new PushQueue();
  return async (c) => {
    const { redirect } = ports;
    if (redirect === undefined) return adminError(501, DISABLED);
    const body = await readAdminBody(ports, c, MAP_MAX_BYTES);
    if (!body.ok) return body.fault;
    const answer = await pushes.run(body.value.byteLength, () => acceptPush(ports, redirect, body.value));
    return answer ?? adminError(503, TOO_MANY, { 'retry-after': '1' });
  };
}

/** `GET`: the map with its exact version digits; version 0 and empty lists before the first push. */
export function readSiblingMap(ports: RouterPorts): Handler<RouterEnv> {
  return (c) =>
    ports.redirect === undefined
      ? adminError(501, DISABLED)
      : piecewiseResponse(ports, c, formatSiblingMap(ports.redirect.maps.current()));
}

async function acceptPush(ports: RouterPorts, redirect: RedirectSite, body: Uint8Array): Promise<Response> {
  const parsed = await ports.turns.complete(
    parseSiblingMap(body, { ownSite: redirect.siteId, domains: redirect.domains }),
  );
  if (!parsed.ok) {
    ports.log.warn('Rejected sibling map', { rule: parsed.fault });
    return adminError(400, parsed.fault);
  }
  return replaceMap(ports, redirect, parsed.value);
}

/**
 * In one go up to the last line: the version is compared with the one held now, whatever was held when the push came in. The JSON is made
 * by hand, because a version up to 2^64−1 must keep its digits (D-58).
 */
async function replaceMap(ports: RouterPorts, redirect: RedirectSite, map: SiblingMap): Promise<Response> {
  const { version, sites } = map;
  const before = redirect.maps.current();
  const replaced = redirect.maps.replace(map);
  if (!replaced.ok) {
    const current = replaced.fault.currentVersion;
    ports.log.warn('Rejected sibling map', { version: String(version), current_version: String(current) });
    return jsonText(409, `{"error":"stale version","current_version":${current}}`);
  }
  ports.log.info('Replaced sibling map', { version: String(version), sites: sites.size });
  if (replaced.value.changedSilently) {
    const [from, to] = [shortHash(before), shortHash(map)];
    ports.log.warn('Sibling map changed without a new version', { version: String(version), from, to });
  }
  for (const warning of warnAboutMap(map, ports.nowMs())) ports.log.warn(warning);
  warnOfHiddenAliases(ports);
  ports.holds.mapReplaced();
  await ports.kept?.mapReplaced();
  return jsonText(200, `{"ok":true,"version":${version}}`);
}

/** Enough of a map's content hash to compare two sites' logs (D-59). */
function shortHash(map: SiblingMap): string {
  return map.contentHash.slice(0, 16);
}
