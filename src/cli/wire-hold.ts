// The holding of `serve`: who may wait for a model to wake, and who is told to wake it.

import { systemTimers } from '../agents/timers.ts';
import type { Config } from '../config/config.ts';
import type { DispatchPorts } from '../dispatch/dispatch.ts';
import { HoldQueue } from '../hold/hold-queue.ts';
import type { WakePorts } from '../hold/wake.ts';
import { WakeWebhook } from '../hold/wake-webhook.ts';
import type { RedirectSite } from '../http/router-ports.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RegistrationStream } from '../telemetry/registration-stream.ts';

export interface HoldParts {
  readonly redirect: RedirectSite | undefined;
  readonly dispatching: DispatchPorts;
  readonly metrics: Metrics;
  readonly registrations: RegistrationStream;
  readonly log: Log;
  /** Aborted when the router stops. */
  readonly stopping: AbortSignal;
}

/** While cross-site redirect is off, nothing is ever held in it. */
export function holdQueue({ hold }: Config, parts: HoldParts): HoldQueue {
  const { redirect, dispatching, stopping } = parts;
  const { registry, policies, timers, queue: seats } = dispatching;
  const { budgetMs: defaultHoldMs, maxPerModel, maxBytes } = hold;
  const holds = new HoldQueue({
    ...{ registry, policies, timers, seats, nowMs: Date.now },
    ...{ defaultHoldMs, maxPerModel, maxBytes, requestTimeoutMs: dispatching.requestTimeoutMs },
    here: () => (redirect === undefined ? undefined : { siteId: redirect.siteId, map: redirect.maps.current() }),
    wake: wakePorts(hold, parts),
  });
  stopping.addEventListener('abort', () => holds.stop());
  return holds;
}

function wakePorts(
  { webhook: target }: Config['hold'],
  { redirect, dispatching, metrics, registrations, log, stopping }: HoldParts,
): WakePorts {
  const site = redirect?.siteId ?? '';
  const onFailed = (model: string, reason: string): void => {
    metrics.hold?.webhookFailed();
    log.rarely('wake_webhook', 'Cannot ask for a model to be started', { model, reason });
  };
  const webhook = target && new WakeWebhook(site, target, { fetch: dispatching.fetch, timers: systemTimers, onFailed });
  stopping.addEventListener('abort', () => webhook?.stop());
  return {
    announce: (event_type, { model, kind, held, sinceMs }) => {
      const times = { since: formatTimestamp(sinceMs), timestamp: formatTimestamp(Date.now()) };
      registrations.publish({ event_type, site, model, kind, held, ...times });
    },
    call: (wanted) => webhook?.call(wanted) ?? true,
  };
}
