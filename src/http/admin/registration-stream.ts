// `/admin/registration-stream`: which agents come and go, told as it happens (routing.md §22).

import type { Handler } from 'hono';
import { SUBSCRIBERS_MAX } from '../../telemetry/registration-stream.ts';
import { endRecord } from '../record-request.ts';
import { adminError } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** `GET`: events until the client leaves, lags too far behind, or the router stops; 503 when none can be had. */
export function streamRegistrations(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => {
    // HEAD comes as GET without a body: nobody would ever read, or leave.
    if (c.req.raw.method === 'HEAD') return new Response(null, { headers: HEADERS });
    const { record } = c.env;
    const stream = ports.registrations.subscribe(() => endRecord(ports, record));
    if (stream === undefined) {
      return ports.isStopping()
        ? adminError(503, 'Cannot subscribe: the router is stopping')
        : adminError(503, `Cannot subscribe: there are ${SUBSCRIBERS_MAX} subscribers already`);
    }
    record.streaming = true;
    return new Response(stream, { headers: HEADERS });
  };
}
