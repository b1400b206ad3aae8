// Quotas as keys declare them, for tests.

import type { KeyQuota } from '../../src/auth/key-quota.ts';

const UNDECLARED: KeyQuota = {
  requestsPerMinute: undefined,
  tokensPerDay: undefined,
  inputTokensPerMinute: undefined,
  outputTokensPerMinute: undefined,
  perModel: undefined,
};

export function flatQuota(requestsPerMinute: number | undefined, tokensPerDay: number | undefined): KeyQuota {
  return { ...UNDECLARED, requestsPerMinute, tokensPerDay };
}

/** By model: requests per minute per replica, and tokens per day. */
export function perModelQuota(
  models: Readonly<Record<string, readonly [perMinute: number, perDay: number]>>,
): KeyQuota {
  const entries = Object.entries(models).map(
    ([model, [requestsPerMinutePerReplica, tokensPerDay]]) =>
      [model, { requestsPerMinutePerReplica, tokensPerDay }] as const,
  );
  return { ...UNDECLARED, perModel: new Map(entries) };
}
