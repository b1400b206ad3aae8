// The requests over HTTP, one kind after another: first as many as there can be, then half as many at a fixed rate.

import { chatBody } from './chat-body.ts';
import { cpuMs, peakMemoryMib } from './child.ts';
import type { LoadFinding, LoadName } from './findings.ts';
import { type Fleet, MODEL, type RouterChild } from './fleet.ts';
import { encodeBody, type Job, type JobOutcome, rateOf } from './job.ts';
import type { Latencies } from './latency.ts';
import type { LoadDriver } from './load-driver.ts';

/** Enough to keep one thread busy, and what a load balancer keeps open. */
const CONNECTIONS_MAX = 64;
/** Bytes of bodies under way at once: half of what a router holds by default (`--body-memory`). */
const BODIES_BYTES = 134_217_728;
const PATH = '/v1/chat/completions';
/** Tokens of a streamed answer. */
const STREAM_TOKENS = 32;
/** Parts of the time: for each kind two measurements, which have one each, and warming up before. */
const SHARES = 13;
/** A new router is compiled while it serves, for some 20,000 requests: what it does meanwhile tells nothing. */
const WARM_UP_SHARES = 2;

interface Kind {
  readonly name: LoadName;
  readonly router: RouterChild;
  readonly status: number;
  readonly tokens?: 'keep' | 'use';
  readonly isStream?: boolean;
}

/** Redirects come first, for their tokens; those are accepted by a router that is warm, since there are none to waste. */
export async function measureLoads(
  fleet: Fleet,
  load: LoadDriver,
  plan: { readonly bodyBytes: number; readonly durationMs: number },
): Promise<readonly LoadFinding[]> {
  const { redirecting, serving } = fleet;
  const kinds: readonly Kind[] = [
    { name: 'redirect', router: redirecting, status: 307, tokens: 'keep' },
    { name: 'served', router: serving, status: 200 },
    { name: 'accepted_token', router: serving, status: 200, tokens: 'use' },
    { name: 'streamed', router: serving, status: 200, isStream: true },
  ];
  const findings: LoadFinding[] = [];
  for (const kind of kinds) findings.push(await measureKind(fleet, load, kind, plan));
  return findings;
}

async function measureKind(
  fleet: Fleet,
  load: LoadDriver,
  { name, router, status, tokens, isStream = false }: Kind,
  plan: { readonly bodyBytes: number; readonly durationMs: number },
): Promise<LoadFinding> {
  const shareMs = plan.durationMs / SHARES;
  const stream = isStream ? { stream: true, min_tokens: STREAM_TOKENS, max_tokens: STREAM_TOKENS } : { max_tokens: 16 };
  const job: Job = {
    port: router.port,
    path: PATH,
    body: encodeBody(chatBody(plan.bodyBytes, { model: MODEL, ...stream })),
    headers: [`Authorization: Bearer ${fleet.apiKey}`],
    status,
    connections: connectionsFor(plan.bodyBytes),
    durationMs: shareMs,
    ...(tokens === undefined ? {} : { tokens }),
  };
  if (tokens !== 'use') await load.run({ ...job, durationMs: shareMs * WARM_UP_SHARES });
  const cpuBeforeMs = cpuMs(router.child.pid);
  const most = await load.run({ ...job, durationMs: tokens === 'use' ? shareMs / 2 : shareMs });
  const cpuAfterMs = cpuMs(router.child.pid);
  const maxPerSecond = rateOf(most);
  const half = await atHalf(load, job, most);
  const cpu = cpuBeforeMs === undefined || cpuAfterMs === undefined ? undefined : cpuAfterMs - cpuBeforeMs;
  return {
    name,
    connections: job.connections,
    maxPerSecond: Math.round(maxPerSecond),
    atHalf: half === undefined ? null : { perSecond: Math.round(rateOf(half)), latencies: roundAll(half.latencies) },
    failed: most.failed + (half?.failed ?? 0),
    failure: most.failure || (half?.failure ?? ''),
    routerCpuUs: cpu === undefined || most.answered === 0 ? null : round((cpu * 1_000) / most.answered),
    routerCoreShare: cpu === undefined || most.elapsedMs === 0 ? null : round(cpu / most.elapsedMs),
    routerPeakMemoryMib: round(peakMemoryMib(router.child.pid)) ?? null,
  };
}

/** Undefined when nothing was answered, or no tokens are left for it. */
async function atHalf(load: LoadDriver, job: Job, most: JobOutcome): Promise<JobOutcome | undefined> {
  const perSecond = rateOf(most) / 2;
  if (perSecond === 0) return undefined;
  const hasTokens = job.tokens !== 'use' || most.tokens > 0;
  return hasTokens ? load.run({ ...job, perSecond }) : undefined;
}

function connectionsFor(bodyBytes: number): number {
  return Math.max(1, Math.min(CONNECTIONS_MAX, Math.floor(BODIES_BYTES / bodyBytes)));
}

/** To a microsecond. */
function roundAll(latencies: Latencies): Latencies {
  const rounded = Object.entries(latencies).map(([name, ms]) => [name, Math.round(ms * 1_000) / 1_000]);
  return Object.fromEntries(rounded) as Latencies;
}

function round<Value extends number | undefined>(value: Value): Value {
  return (value === undefined ? undefined : Math.round(value * 100) / 100) as Value;
}
