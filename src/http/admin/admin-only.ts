// The door of `/admin/*`: before anything else, whatever the path and the method.

import type { MiddlewareHandler } from 'hono';
import { mayAdminister } from '../../auth/admin.ts';
import { readCredentials } from '../../auth/credentials.ts';
import { RouterError } from '../../errors.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

/** Lets admin keys through and nothing else; client keys do not open this door, nor do tokens. */
export function adminOnly(ports: RouterPorts): MiddlewareHandler<RouterEnv> {
  return async (c, next) => {
    if (!mayAdminister(ports.admin, readCredentials(c.req.raw.headers, ''))) {
      throw new RouterError('unauthorized', 'unauthorized');
    }
    await next();
  };
}
