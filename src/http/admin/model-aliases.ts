// `/admin/model-aliases`: the alias table, replaced whole in memory until the next reload of its file, and read back.

import type { Handler } from 'hono';
import { ALIASES_MAX_BYTES, parseAliasPush } from '../../routing/alias-document.ts';
import { currentMap, whyRealModel } from '../model-aliases.ts';
import { adminError, jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';

/** `GET`: every alias with the list of its models, also one that was given as a single model. It can be put again. */
export function readAliases(ports: RouterPorts): Handler<RouterEnv> {
  return () => jsonResponse(200, { aliases: Object.fromEntries(ports.aliases.current()) });
}

/** `PUT`: 200 and the table is replaced, or 400 with every broken rule and nothing changes. */
export function replaceAliases(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const body = await readAdminBody(ports, c, ALIASES_MAX_BYTES);
    if (!body.ok) return body.fault;
    const parsed = parseAliasPush(body.value, (name) => whyRealModel(ports, currentMap(ports), name));
    if (!parsed.ok) {
      const rule = parsed.fault.join('; ');
      ports.log.warn('Rejected model aliases', { rule });
      return adminError(400, rule);
    }
    ports.aliases.replace(parsed.value);
    ports.log.info('Replaced model aliases', { count: parsed.value.size });
    return jsonResponse(200, { ok: true, count: parsed.value.size });
  };
}
