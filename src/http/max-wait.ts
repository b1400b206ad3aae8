// `X-Hivenet-Max-Wait`: how long a client would wait while a model wakes (decisions.md, "Hold at zero").

import { RouterError } from '../errors.ts';
import { durationMs, parseDuration } from '../lib/duration.ts';

const MOST_MS = 3_600_000;

/** Whole milliseconds, 0 to 3,600,000; undefined without the header. Throws 400 for what is no duration in that range. */
export function readMaxWait(headers: Headers): number | undefined {
  const header = headers.get('x-hivenet-max-wait');
  if (header === null) return undefined;
  const duration = parseDuration(header);
  if (duration.ok && duration.value >= 0n && duration.value <= BigInt(MOST_MS) * 1_000_000n) {
    return durationMs(duration.value);
  }
  throw new RouterError('request_invalid', 'X-Hivenet-Max-Wait must be a duration from 0s to 1h, such as "20s".');
}
