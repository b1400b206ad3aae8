// Liveness and readiness for load balancers and supervisors: alive as long as the process answers, ready as long as it
// takes new work and can know who asks (E10, E13).

import type { Handler } from 'hono';
import { isWaitingForKeys } from '../auth/authenticate.ts';
import { jsonResponse } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';

/** `GET /health`: 200 while the process answers. */
export const liveness: Handler<RouterEnv> = () => jsonResponse(200, { status: 'ok' });

/** `GET /health/ready`: 200, and 503 before the first push of API keys and from the first stop signal on. */
export function readiness(ports: RouterPorts): Handler<RouterEnv> {
  return () => {
    if (ports.isStopping()) return jsonResponse(503, { status: 'stopping' });
    // Every request would be a 401, also those that another router of the site could serve.
    if (isWaitingForKeys(ports.auth)) return jsonResponse(503, { status: 'waiting for api keys' });
    return jsonResponse(200, { status: 'ready' });
  };
}
