// `POST /v1/chat/completions`: OpenAI's dialect of a generated answer, whole or as `data:` events.

import * as v from 'valibot';
import { endpoint, wholeNumber } from './endpoint.ts';
import { type EventScript, eventText, streamEvents } from './event-stream.ts';
import { Generation } from './generation.ts';
import { MessagesSchema, promptOf } from './prompt.ts';
import type { Turn } from './running-request.ts';
import { MIN_TOKENS_MAX } from './text.ts';

const ChatSchema = v.object({
  model: v.string(),
  messages: MessagesSchema,
  stream: v.nullish(v.boolean(), false),
  stream_options: v.nullish(v.object({ include_usage: v.nullish(v.boolean(), false) })),
  max_tokens: v.nullish(wholeNumber(1)),
  max_completion_tokens: v.nullish(wholeNumber(1)),
  n: v.nullish(wholeNumber(1, 128), 1),
  min_tokens: v.nullish(wholeNumber(0, MIN_TOKENS_MAX), 0),
});

/** Answers with `n` choices of one text; `min_tokens` is vLLM's, and makes an answer as long as a test needs it. */
export const chatCompletions = endpoint('/v1/chat/completions', ChatSchema, async (ask, turn) => {
  const generation = new Generation(turn, {
    model: ask.model,
    prompt: promptOf(ask.messages.map(({ content }) => content)),
    minTokens: ask.min_tokens,
    maxTokens: ask.max_completion_tokens ?? ask.max_tokens ?? Number.POSITIVE_INFINITY,
  });
  const identity = identityOf(turn, ask.model);
  if (ask.stream) return streamEvents(generation, script(generation, identity, ask));
  const content = await generation.text();
  return Response.json({
    ...identity,
    object: 'chat.completion',
    choices: indexesOf(ask).map((index) => ({
      index,
      message: { role: 'assistant', content },
      logprobs: null,
      finish_reason: generation.finishReason,
    })),
    usage: usageOf(generation, ask),
  });
});

type ChatAsk = v.InferOutput<typeof ChatSchema>;

/** From 0, of the choices. */
function indexesOf({ n }: Pick<ChatAsk, 'n'>): readonly number[] {
  return Array.from({ length: n }, (_, index) => index);
}

interface Identity {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function identityOf({ settings, ports, number }: Turn, model: string): Identity {
  return { id: `chatcmpl-${settings.name}-${number}`, created: Math.floor(ports.nowMs() / 1000), model };
}

function script(generation: Generation, identity: Identity, ask: ChatAsk): EventScript {
  const chunk = (rest: object) => eventText(JSON.stringify({ ...identity, object: 'chat.completion.chunk', ...rest }));
  const choice = (delta: object, finishReason: string | null = null) =>
    indexesOf(ask)
      .map((index) => chunk({ choices: [{ index, delta, logprobs: null, finish_reason: finishReason }] }))
      .join('');
  return {
    opening: () => choice({ role: 'assistant', content: '' }),
    token: (content) => choice({ content }),
    closing: () => {
      const isUsageWanted = ask.stream_options?.include_usage === true;
      const usage = isUsageWanted ? chunk({ choices: [], usage: usageOf(generation, ask) }) : '';
      return choice({}, generation.finishReason) + usage + eventText('[DONE]');
    },
  };
}

function usageOf({ promptTokens, generatedTokens }: Generation, { n }: ChatAsk) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: n * generatedTokens,
    total_tokens: promptTokens + n * generatedTokens,
  };
}
