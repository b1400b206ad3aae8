// The body of an admin write: read whole under the limit of its document, refused in the admins' simple form.

import type { Context } from 'hono';
import { type ErrorCode, RouterError } from '../../errors.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { readBody, readContent } from '../body.ts';
import { adminError, headersOf } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

/** Of all admin documents together: as many as may wait to be read (`PushQueue`), and as many that still arrive. */
export const ADMIN_BODY_MEMORY_BYTES = 128 * 1024 * 1024;

/** The decoded bytes, at most `maxBytes`, or the 400 or 503 to answer: admin writes know no 413 (api.md, 17). */
export async function readAdminBody(
  ports: RouterPorts,
  c: Context<RouterEnv>,
  maxBytes: number,
): Promise<Result<Uint8Array<ArrayBuffer>, Response>> {
  const order = {
    request: c.req.raw,
    connection: c.env.connection,
    share: c.env.record,
    maxBytes,
    isHashed: false,
  };
  try {
    return ok(await readContent(ports.adminBodies, order, await readBody(ports.adminBodies, order)));
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return fault(adminError(statusOf(error.code), error.message, headersOf(error.code)));
  }
}

function statusOf(code: ErrorCode): 400 | 503 {
  return code === 'queue_full' ? 503 : 400;
}
