// The body of an admin write: read whole under the one limit of 16 MiB, refused in the admins' simple form.

import { RouterError } from '../../errors.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { readBody } from '../body.ts';
import { adminError } from '../respond.ts';

/** Largest admin document: 100 sites with 500 models each are about 6 MB (D-60). */
const ADMIN_BODY_MAX_BYTES = 16 * 1024 * 1024;

/** The bytes, or the 400 to answer: admin writes know no 413 (api.md, 17). */
export async function readAdminBody(request: Request): Promise<Result<Uint8Array<ArrayBuffer>, Response>> {
  try {
    return ok(await readBody(request, ADMIN_BODY_MAX_BYTES));
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return fault(adminError(400, error.message));
  }
}
