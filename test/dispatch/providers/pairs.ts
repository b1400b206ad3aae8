// The four ways from a client's dialect to a provider's, for the tests of the call.

import type { ProviderAttempt } from '../../../src/dispatch/providers/provider-answer.ts';
import { type Answer, startEngine } from '../engines.ts';
import { goldenStreams } from './golden.ts';
import { providerSite } from './provider-site.ts';

export const EVENTS = { 'content-type': 'text/event-stream' };
const OPENAI = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const ANTHROPIC = { ...OPENAI, max_tokens: 10 };

/** Each client's dialect with the other's provider, and what that provider sends. */
export const CONVERTED = [
  {
    from: 'openai',
    to: 'anthropic',
    name: 'Anthropic',
    body: OPENAI,
    events: goldenStreams('stream-to-openai')[0]?.in,
  },
  {
    from: 'anthropic',
    to: 'openai',
    name: 'OpenAI',
    body: ANTHROPIC,
    events: goldenStreams('stream-to-anthropic')[0]?.in,
  },
] as const;

export const OWN = [
  { from: 'openai', to: 'openai', name: 'OpenAI', body: OPENAI },
  { from: 'anthropic', to: 'anthropic', name: 'Anthropic', body: ANTHROPIC },
] as const;

/** A provider that answers so, asked once. */
export async function ask(pair: (typeof CONVERTED | typeof OWN)[number], answer: Answer, more: object = {}) {
  const provider = await startEngine(answer);
  const site = providerSite({ ...pair, url: provider.url });
  return { provider, attempt: await site.call({ body: { ...pair.body, ...more } }) };
}

export const failureOf = (attempt: ProviderAttempt) =>
  attempt.kind === 'failed' ? [attempt.status, attempt.message, attempt.reason] : [attempt.kind];

/** What this provider's stream begins with. */
export const firstEvent = (to: 'openai' | 'anthropic') => CONVERTED.find((pair) => pair.to === to)?.events?.[0];
