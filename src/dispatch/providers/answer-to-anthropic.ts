// A whole OpenAI completion as an Anthropic message. An answer is paid for, so what has no counterpart in it
// (annotations, fingerprints) is left out, never a reason to refuse it.

import * as v from 'valibot';
import { fault, ok, type Result } from '../../lib/result.ts';
import type { ConvertedAnswer } from './answer-to-openai.ts';
import { type Json, readAnswer, Text } from './fields.ts';
import { Arguments } from './openai-request.ts';
import { stopReason } from './stop-reason.ts';
import { anthropicUsage, countsOfOpenai, NO_TOKENS, OpenaiUsage } from './token-counts.ts';

const ToolCall = v.object({ id: Text, function: v.object({ name: Text, arguments: Text }) });

const Completion = v.object({
  id: Text,
  model: Text,
  choices: v.array(
    v.object({
      message: v.object({
        content: v.nullish(Text),
        refusal: v.nullish(Text),
        tool_calls: v.nullish(v.array(ToolCall)),
      }),
      finish_reason: v.nullish(Text),
    }),
  ),
  usage: v.nullish(OpenaiUsage),
});

/** The fault says what is wrong with the provider's answer, without quoting it. Only one choice was asked for. */
export function answerToAnthropic(document: unknown): Result<ConvertedAnswer, string> {
  const read = readAnswer(Completion, document);
  if (!read.ok) return read;
  const { id, model, choices, usage } = read.value;
  const [choice] = choices;
  if (choice === undefined) return fault('"choices" is empty');
  const { content, refusal, tool_calls: calls } = choice.message;
  const texts = [content, refusal].filter((text) => typeof text === 'string' && text !== '');
  const blocks = [...texts.map((text) => ({ type: 'text', text, citations: null })), ...(calls ?? []).map(callBlock)];
  const tokens = usage ? countsOfOpenai(usage) : NO_TOKENS;
  const hasCalls = blocks.some(({ type }) => type === 'tool_use');
  const isRefusal = typeof refusal === 'string' && refusal !== '';
  const reason = isRefusal ? 'refusal' : stopReason(choice.finish_reason, { hasCalls });
  const message = { id, type: 'message', role: 'assistant', model, content: blocks };
  const stop = { stop_reason: reason, stop_sequence: null, stop_details: null };
  return ok({ document: { ...message, ...stop, usage: anthropicUsage(tokens) }, tokens });
}

/**
 * Arguments that are no JSON object, cut off or badly written, have no place in `tool_use`: the client reads them as text,
 * and runs nothing.
 */
function callBlock({ id, function: { name, arguments: text } }: v.InferOutput<typeof ToolCall>): Json {
  const input = v.safeParse(Arguments, text);
  if (!input.success) return { type: 'text', text: `${name}(${text})`, citations: null };
  return { type: 'tool_use', id, name, input: input.output, caller: DIRECT };
}

/** Who called: the model itself, not a server tool. */
export const DIRECT = { type: 'direct' } as const;
