// The two companies whose models a policy may fall back on: where they are asked, and with which headers. Nothing of the
// client's goes there but its request and what is listed here (E6).

import type { Dialect, Endpoint } from '../../routing/endpoint.ts';
import { engineHeaders, type HeaderFields } from '../headers.ts';
import type { Target } from '../target.ts';

/** What the operator has at a provider. */
export interface ProviderAccount {
  /** A provider is known by its dialect. */
  readonly dialect: Dialect;
  /** Without a slash at its end: `https://api.openai.com/v1`, `https://api.anthropic.com`, as their SDKs have it. */
  readonly baseUrl: string;
  /** The operator's; stands in no log, error or metric. */
  readonly apiKey: string;
}

/** For messages: a failure names its provider (api.md §5.3). */
export const PROVIDER_NAMES: Readonly<Record<Dialect, string>> = { openai: 'OpenAI', anthropic: 'Anthropic' };

/** An endpoint that a chat provider can answer. */
export type ChatEndpoint = Endpoint & { readonly path: keyof typeof CHAT_PATHS };

/** Below the base URL. */
const CHAT_PATHS = { '/v1/chat/completions': '/chat/completions', '/v1/messages': '/v1/messages' } as const;

const PROVIDER_PATHS: Readonly<Record<Dialect, string>> = {
  openai: CHAT_PATHS['/v1/chat/completions'],
  anthropic: CHAT_PATHS['/v1/messages'],
};

/** Counting tokens, embeddings and reranks never go to a chat provider: the answer would be a paid generation. */
export function isChatEndpoint(endpoint: Endpoint): endpoint is ChatEndpoint {
  return endpoint.path in CHAT_PATHS;
}

/** Where to ask this provider, below its base URL. */
export function providerPath({ dialect }: ProviderAccount): string {
  return PROVIDER_PATHS[dialect];
}

/** Sent on when client and provider speak the same dialect: a body may need the version and features they name. */
const ANTHROPIC_HEADERS = ['anthropic-version', 'anthropic-beta'];

/** Version of the Messages API that the conversions are written for. */
const ANTHROPIC_VERSION = '2023-06-01';

export interface HeaderSource {
  /** As the client sent them. */
  readonly headers: Headers;
  readonly requestId: string;
  readonly endpoint: ChatEndpoint;
}

/** The form of the body, `X-Request-ID`, `traceparent`, and Anthropic's own. Nothing else. */
export function providerHeaders(
  provider: ProviderAccount,
  { headers, requestId, endpoint }: HeaderSource,
): HeaderFields {
  const allowed = engineHeaders(headers, requestId);
  const isSameDialect = endpoint.dialect === provider.dialect;
  const passed = ['x-request-id', 'traceparent', 'accept-encoding'];
  if (isSameDialect && provider.dialect === 'anthropic') passed.push(...ANTHROPIC_HEADERS);
  const sent: HeaderFields = { 'content-type': 'application/json', 'user-agent': 'hivenet-router' };
  if (provider.dialect === 'anthropic') sent['anthropic-version'] = ANTHROPIC_VERSION;
  for (const name of passed) {
    const value = allowed[name];
    if (value !== undefined) sent[name] = value;
  }
  return sent;
}

/** Where to send what {@link providerHeaders} and {@link providerPath} are for. */
export function providerTarget({ dialect, baseUrl, apiKey }: ProviderAccount, onHead: Target['onHead']): Target {
  const credentials: Target['credentials'] =
    dialect === 'openai' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
  return { kind: 'provider', baseUrl, credentials, secret: apiKey, onHead, onEnd: () => undefined };
}
