// How an agent stands, in the words that all admin documents have for it.

import type { Agent } from '../../agents/agent.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';

/** `last_seen` is left out before the first good probe; times are RFC 3339. */
export function formatStatus({ status, lastSeenMs }: Agent) {
  return {
    state: status.state,
    reason: status.reason,
    since: formatTimestamp(status.sinceMs),
    last_seen: lastSeenMs === undefined ? undefined : formatTimestamp(lastSeenMs),
  };
}
