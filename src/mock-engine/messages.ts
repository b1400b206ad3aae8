// `POST /v1/messages` and its count_tokens: Anthropic's dialect of a generated answer, whole or as named events.

import * as v from 'valibot';
import { endpoint, wholeNumber } from './endpoint.ts';
import { type EventScript, eventText, streamEvents } from './event-stream.ts';
import { Generation } from './generation.ts';
import { ContentSchema, MessagesSchema, promptOf } from './prompt.ts';
import { countTokens, MIN_TOKENS_MAX } from './text.ts';

const CountSchema = v.object({ model: v.string(), system: ContentSchema, messages: MessagesSchema });

const MessageSchema = v.object({
  ...CountSchema.entries,
  max_tokens: wholeNumber(1),
  min_tokens: v.nullish(wholeNumber(0, MIN_TOKENS_MAX), 0),
  stream: v.nullish(v.boolean(), false),
});

/** Answers with one text block; `min_tokens` is no part of the dialect, but makes an answer as long as a test needs it. */
export const messages = endpoint('/v1/messages', MessageSchema, async (ask, turn) => {
  const generation = new Generation(turn, {
    model: ask.model,
    prompt: promptTextOf(ask),
    minTokens: ask.min_tokens,
    maxTokens: ask.max_tokens,
  });
  const id = `msg_${turn.settings.name}-${turn.number}`;
  const message = { id, type: 'message', role: 'assistant', model: ask.model };
  if (ask.stream) return streamEvents(generation, script(generation, message));
  const text = await generation.text();
  return Response.json({
    ...message,
    content: [{ type: 'text', text }],
    ...stopOf(generation),
    usage: usageOf(generation),
  });
});

/** The same count that `messages` then charges as input. */
export const countMessageTokens = endpoint('/v1/messages/count_tokens', CountSchema, async (ask) =>
  Response.json({ input_tokens: countTokens(promptTextOf(ask)) }),
);

function promptTextOf({ system, messages }: v.InferOutput<typeof CountSchema>): string {
  return promptOf([system, ...messages.map(({ content }) => content)]);
}

function script(generation: Generation, message: object): EventScript {
  const event = (type: string, rest: object = {}) => eventText(JSON.stringify({ type, ...rest }), type);
  return {
    opening: () => {
      const start = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usageOf(generation) };
      const block = { index: 0, content_block: { type: 'text', text: '' } };
      return event('message_start', { message: start }) + event('content_block_start', block);
    },
    token: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    closing: () =>
      event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: stopOf(generation), usage: usageOf(generation) }) +
      event('message_stop'),
  };
}

function stopOf({ finishReason }: Generation) {
  return { stop_reason: finishReason === 'length' ? 'max_tokens' : 'end_turn', stop_sequence: null };
}

function usageOf({ promptTokens, generatedTokens }: Generation) {
  return { input_tokens: promptTokens, output_tokens: generatedTokens };
}
