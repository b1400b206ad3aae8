// The requests over HTTP, one kind after another: first as many as there can be, then half as many at a fixed rate.

import { chatBody } from './chat-body.ts';
import { cpuMs, memoryMib } from './child.ts';
import type { LoadFinding, LoadName } from './findings.ts';
import { type Fleet, MODEL, type RouterChild } from './fleet.ts';
import { encodeBody, type Job, type JobOutcome, rateOf } from './job.ts';
import type { LoadDriver } from './load-driver.ts';

/** Enough to keep one thread busy, and what a load balancer keeps open. */
const CONNECTIONS = 64;
const PATH = '/v1/chat/completions';
/** Tokens of a streamed answer. */
const STREAM_TOKENS = 32;
/** Parts of the time: eight measurements, of which redirects and tokens have more than one share between them. */
const SHARES = 9;

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
    connections: CONNECTIONS,
    durationMs: shareMs,
    ...(tokens === undefined ? {} : { tokens }),
  };
  // The compiler's turn.
  if (tokens !== 'use') await load.run({ ...job, durationMs: shareMs / 4 });
  const cpuBeforeMs = cpuMs(router.child.pid);
  const most = await load.run({ ...job, durationMs: tokens === 'use' ? shareMs / 2 : shareMs });
  const cpuAfterMs = cpuMs(router.child.pid);
  const maxPerSecond = rateOf(most);
  const half = await atHalf(load, job, most);
  const cpu = cpuBeforeMs === undefined || cpuAfterMs === undefined ? undefined : cpuAfterMs - cpuBeforeMs;
  return {
    name,
    maxPerSecond: Math.round(maxPerSecond),
    atHalf: half === undefined ? undefined : { perSecond: Math.round(rateOf(half)), latencies: half.latencies },
    failed: most.failed + (half?.failed ?? 0),
    failure: most.failure || (half?.failure ?? ''),
    routerCpuUs: cpu === undefined || most.answered === 0 ? null : round((cpu * 1_000) / most.answered),
    routerCoreShare: cpu === undefined || most.elapsedMs === 0 ? null : round(cpu / most.elapsedMs),
    routerMemoryMib: round(memoryMib(router.child.pid)) ?? null,
  };
}

/** Undefined when nothing was answered, or no tokens are left for it. */
async function atHalf(load: LoadDriver, job: Job, most: JobOutcome): Promise<JobOutcome | undefined> {
  const perSecond = rateOf(most) / 2;
  if (perSecond === 0) return undefined;
  const hasTokens = job.tokens !== 'use' || most.tokens > 0;
  return hasTokens ? load.run({ ...job, perSecond }) : undefined;
}

function round<Value extends number | undefined>(value: Value): Value {
  return (value === undefined ? undefined : Math.round(value * 100) / 100) as Value;
}
