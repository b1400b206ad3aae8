// The door of `/admin/*`: before anything else, whatever the path and the method.

import type { MiddlewareHandler } from 'hono';
import { mayAdminister } from '../../auth/admin.ts';
import { readCredentials } from '../../auth/credentials.ts';
import { type ErrorCode, RouterError } from '../../errors.ts';
import { wireCodeOf } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

/** Lets admin keys through and nothing else; client keys do not open this door, nor do tokens. */
export function adminOnly(ports: RouterPorts): MiddlewareHandler<RouterEnv> {
  return async (c, next) => {
    if (!mayAdminister(ports.admin, readCredentials(c.req.raw.headers, ''))) {
      throw new RouterError('unauthorized', 'unauthorized');
    }
    await next();
    // What is refused in the admins' simple form has no code on the wire; the access log says one all the same.
    if (c.res.status >= 400) c.env.record.errorCode ??= wireCodeOf(codeOf(c.res.status));
  };
}

/** Admin routes answer 503 when there are too many of something, and anything else when the request is at fault. */
function codeOf(status: number): ErrorCode {
  return status === 503 ? 'queue_full' : 'request_invalid';
}
