// The body of an admin write: read whole under the one limit of 16 MiB, refused in the admins' simple form.

import type { Context } from 'hono';
import { type ErrorCode, RouterError } from '../../errors.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { readBody, readContent } from '../body.ts';
import { adminError, headersOf } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

/** Largest admin document: 100 sites with 500 models each are about 6 MB (D-60). */
const ADMIN_BODY_MAX_BYTES = 16 * 1024 * 1024;

/** The decoded bytes, or the 400 or 503 to answer: admin writes know no 413 (api.md, 17). */
export async function readAdminBody(
  ports: RouterPorts,
  c: Context<RouterEnv>,
): Promise<Result<Uint8Array<ArrayBuffer>, Response>> {
  const order = {
    request: c.req.raw,
    connection: c.env,
    share: c.var.record,
    maxBytes: ADMIN_BODY_MAX_BYTES,
    isHashed: false,
  };
  try {
    return ok(await readContent(ports.bodies, order, await readBody(ports.bodies, order)));
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return fault(adminError(statusOf(error.code), error.message, headersOf(error.code)));
  }
}

function statusOf(code: ErrorCode): 400 | 503 {
  return code === 'queue_full' ? 503 : 400;
}
