// The rows of the settings table that say how requests wait for a model that is asleep, and who is told to wake it.

import { Buffer } from 'node:buffer';
import { fault, ok, type Result } from '../lib/result.ts';
import { bytesWithin, durationWithin, parsePath, wholeWithin } from './parse-value.ts';
import type { Setting } from './setting.ts';

export const HOLD_SETTINGS = {
  wakeHoldBudget: {
    group: 'Hold at zero',
    flag: '--wake-hold-budget',
    variable: 'HIVENET_ROUTER_WAKE_HOLD_BUDGET',
    argument: 'DURATION',
    fallback: '120s',
    parse: durationWithin('0s', '1h'),
    example: '120s',
    help:
      'How long a request waits for a model that the map places here with `scale_from_zero` and without `hold_budget`, 0s ' +
      'to 1h; 0s holds none. It runs beside `--request-timeout`',
  },
  wakeHoldMax: {
    group: 'Hold at zero',
    flag: '--wake-hold-max',
    variable: 'HIVENET_ROUTER_WAKE_HOLD_MAX',
    argument: 'NUMBER',
    fallback: '100',
    parse: wholeWithin(1, 100_000),
    example: '100',
    help: 'Requests that wait so for one model, 1 to 100000; one more is a 503 `queue_full`',
  },
  wakeHoldMaxBytes: {
    group: 'Hold at zero',
    flag: '--wake-hold-max-bytes',
    variable: 'HIVENET_ROUTER_WAKE_HOLD_MAX_BYTES',
    argument: 'BYTES',
    fallback: '268435456',
    parse: bytesWithin(1, 1_099_511_627_776),
    example: '268435456',
    help:
      'Bodies of all requests that wait so, 1 to 1099511627776 bytes, beside those of `--body-memory`; beyond, 503 ' +
      '`queue_full`',
  },
  wakeWebhookUrl: {
    group: 'Hold at zero',
    flag: '--wake-webhook-url',
    variable: 'HIVENET_ROUTER_WAKE_WEBHOOK_URL',
    argument: 'URL',
    parse: parseWebhookUrl,
    example: 'https://scaler.example.com/wake',
    help: 'Where a POST says that requests wait for a model, at once and every 10 s while any does',
    // User name, password and often the path are what opens it.
    isSecret: true,
  },
  wakeWebhookSecretFile: {
    group: 'Hold at zero',
    flag: '--wake-webhook-secret-file',
    variable: 'HIVENET_ROUTER_WAKE_WEBHOOK_SECRET_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/wake-secret',
    help: 'File with the secret, at least 32 bytes, that signs these calls in `X-Hivenet-Signature`',
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

/** Where to call, and the credentials that the URL had, which no request line may carry. */
export interface WebhookAddress {
  readonly url: string;
  /** A value of the header `Authorization`. */
  readonly authorization: string | undefined;
}

/** Longest URL, in characters. */
const URL_MAX = 2_048;

function parseWebhookUrl(text: string): Result<WebhookAddress, string> {
  const url = text.length > URL_MAX ? null : URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return fault('not an http:// or https:// URL of at most 2048 characters');
  }
  const authorization = basicCredentials(url);
  if (!authorization.ok) return authorization;
  url.username = '';
  url.password = '';
  url.hash = '';
  return ok({ url: url.href, authorization: authorization.value });
}

/** RFC 7617: `user:password`, in base64. */
function basicCredentials({ username, password }: URL): Result<string | undefined, string> {
  if (username === '' && password === '') return ok(undefined);
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return ok(`Basic ${Buffer.from(pair).toString('base64')}`);
  } catch {
    return fault('user name or password is not percent-encoded UTF-8');
  }
}
