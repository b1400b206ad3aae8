// Liveness and readiness for load balancers and supervisors: alive as long as the process answers, ready as long as it
// takes new work (E10, E13).

import type { Handler } from 'hono';
import { jsonResponse } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';

/** `GET /health`: 200 while the process answers. */
export const liveness: Handler<RouterEnv> = () => jsonResponse(200, { status: 'ok' });

/** `GET /health/ready`: 200, and 503 from the first stop signal on. */
export function readiness(ports: RouterPorts): Handler<RouterEnv> {
  return () =>
    ports.isStopping() ? jsonResponse(503, { status: 'stopping' }) : jsonResponse(200, { status: 'ready' });
}
