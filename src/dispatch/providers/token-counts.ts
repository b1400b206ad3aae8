// The use of tokens as both providers count it: OpenAI's prompt tokens include what came from a cache, Anthropic's input
// tokens do not.

import * as v from 'valibot';
import type { TokenUse } from '../../agents/track-record.ts';
import type { Json } from './fields.ts';

/** Whole tokens, 0 or more. */
export interface TokenCounts {
  /** Read anew: neither taken from the provider's cache nor written into it. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Part of `output`. */
  readonly thinking: number;
}

export const NO_TOKENS: TokenCounts = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, thinking: 0 };

const Count = v.nullish(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

/** `usage` of a completion or of the last chunk. */
export const OpenaiUsage = v.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  prompt_tokens_details: v.nullish(v.object({ cached_tokens: Count, cache_write_tokens: Count })),
  completion_tokens_details: v.nullish(v.object({ reasoning_tokens: Count })),
});

/** `usage` of a message, of `message_start` or of `message_delta`. */
export const AnthropicUsage = v.object({
  input_tokens: Count,
  cache_read_input_tokens: Count,
  cache_creation_input_tokens: Count,
  output_tokens: Count,
  output_tokens_details: v.nullish(v.object({ thinking_tokens: Count })),
});

export function countsOfOpenai(usage: v.InferOutput<typeof OpenaiUsage>): TokenCounts {
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: usage.completion_tokens ?? 0,
    thinking: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

/** Counts that this part of a stream leaves out stay as they were before (`message_delta` counts from the start). */
export function countsOfAnthropic(
  usage: v.InferOutput<typeof AnthropicUsage>,
  before: TokenCounts = NO_TOKENS,
): TokenCounts {
  return {
    input: usage.input_tokens ?? before.input,
    cacheRead: usage.cache_read_input_tokens ?? before.cacheRead,
    cacheWrite: usage.cache_creation_input_tokens ?? before.cacheWrite,
    output: usage.output_tokens ?? before.output,
    thinking: usage.output_tokens_details?.thinking_tokens ?? before.thinking,
  };
}

/** For accounting: whatever the prompt had, from a cache or not. */
export function useOf({ input, cacheRead, cacheWrite, output }: TokenCounts): TokenUse {
  return { inputTokens: input + cacheRead + cacheWrite, outputTokens: output };
}

export function openaiUsage({ input, cacheRead, cacheWrite, output, thinking }: TokenCounts): Json {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}

export function anthropicUsage({ input, cacheRead, cacheWrite, output, thinking }: TokenCounts): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thinking },
  };
}
