// Which limits a request meets: those of the key that asks, on buckets that all keys of its owner share, for all models
// together or for each on its own (api.md §13.1).

import type { Caller } from '../auth/authenticate.ts';
import { PER_MINUTE_MAX, type RequestRate } from './token-bucket.ts';

/** Undefined: unlimited. */
export interface Limits {
  readonly requests: RequestLimit | undefined;
  readonly tokens: TokenLimit | undefined;
}

interface RequestLimit {
  readonly bucket: string;
  /** 1 or more. */
  readonly perMinute: number;
  /** The limit holds for each healthy agent of model and capability (A9). */
  readonly isPerReplica: boolean;
}

interface TokenLimit {
  readonly budget: string;
  /** 1 or more. */
  readonly perDay: number;
}

/**
 * The limits of `caller` on `model`. Undefined when its quotas are per model and do not name this one: with cross-site
 * redirect `mayUseModel` has refused it before, without it that is a 429 (R-020, A1).
 */
export function limitsOf({ owner, quota }: Pick<Caller, 'owner' | 'quota'>, model: string): Limits | undefined {
  if (quota?.perModel === undefined) {
    const name = bucketOf(owner);
    return {
      requests: requestLimit(name, false, quota?.requestsPerMinute),
      tokens: tokenLimit(name, quota?.tokensPerDay),
    };
  }
  const declared = quota.perModel.get(model);
  if (declared === undefined) return undefined;
  const name = bucketOf(owner, model);
  return {
    requests: requestLimit(name, true, declared.requestsPerMinutePerReplica),
    tokens: tokenLimit(name, declared.tokensPerDay),
  };
}

/**
 * The rate over `replicas`, 0 or more. Undefined: unlimited, also without a healthy agent, when what comes next says what is
 * wrong (T5). `burstSeconds`: 0 for a burst of the whole minute, else 1 to 59.
 */
export function rateOf(
  limit: RequestLimit | undefined,
  replicas: number,
  burstSeconds: number,
): RequestRate | undefined {
  if (limit === undefined || (limit.isPerReplica && replicas === 0)) return undefined;
  const perMinute = Math.min(limit.isPerReplica ? limit.perMinute * replicas : limit.perMinute, PER_MINUTE_MAX);
  const burst = burstSeconds === 0 ? perMinute : Math.max(1, Math.floor((perMinute * burstSeconds) / 60));
  return { perMinute, burst };
}

function requestLimit(bucket: string, isPerReplica: boolean, perMinute = 0): RequestLimit | undefined {
  return perMinute > 0 ? { bucket, perMinute, isPerReplica } : undefined;
}

function tokenLimit(budget: string, perDay = 0): TokenLimit | undefined {
  return perDay > 0 ? { budget, perDay } : undefined;
}

/** An owner and a model may hold any character: the length tells where one ends and the other begins. */
function bucketOf(owner: string, model = ''): string {
  return `${owner.length}:${owner}${model}`;
}
