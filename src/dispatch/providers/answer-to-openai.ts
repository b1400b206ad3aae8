// A whole Anthropic message as an OpenAI completion. An answer is paid for, so what has no counterpart in it (thinking,
// the stop sequence that was met) is left out, never a reason to refuse it.

import * as v from 'valibot';
import { memberOf } from '../../agents/engine-body.ts';
import { ok, type Result } from '../../lib/result.ts';
import { AnyObject, type Json, readAnswer, Text } from './fields.ts';
import { finishReason } from './stop-reason.ts';
import { AnthropicUsage, countsOfAnthropic, openaiUsage, type TokenCounts } from './token-counts.ts';

const TextBlock = v.object({ type: v.literal('text'), text: Text });
const ToolUseBlock = v.object({ type: v.literal('tool_use'), id: Text, name: Text, input: AnyObject });
const OtherBlock = v.pipe(
  v.object({ type: Text }),
  v.transform(() => undefined),
);

/** One block of an answer; undefined for a kind that OpenAI's clients do not know. */
export const AnswerBlock = v.lazy<typeof TextBlock | typeof ToolUseBlock | typeof OtherBlock>((input) => {
  const type = memberOf(input, 'type');
  if (type === 'text') return TextBlock;
  return type === 'tool_use' ? ToolUseBlock : OtherBlock;
});

const Message = v.object({
  id: Text,
  model: Text,
  content: v.array(AnswerBlock),
  stop_reason: v.nullish(Text),
  usage: AnthropicUsage,
});

/** An answer for the client, and what it took. */
export interface ConvertedAnswer {
  readonly document: Json;
  readonly tokens: TokenCounts;
}

/** The fault says what is wrong with the provider's answer, without quoting it. */
export function answerToOpenai(document: unknown, nowMs: number): Result<ConvertedAnswer, string> {
  const read = readAnswer(Message, document);
  if (!read.ok) return read;
  const { id, model, content, stop_reason: reason, usage } = read.value;
  const texts = content.flatMap((block) => (block?.type === 'text' ? [block.text] : []));
  const calls = content.flatMap((block) => {
    if (block?.type !== 'tool_use') return [];
    return [{ id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input) } }];
  });
  const tokens = countsOfAnthropic(usage);
  const message = {
    role: 'assistant',
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(''),
    refusal: null,
    tool_calls: calls.length === 0 ? undefined : calls,
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(reason) };
  const completion = { id, object: 'chat.completion', created: Math.floor(nowMs / 1000), model };
  return ok({ document: { ...completion, choices: [choice], usage: openaiUsage(tokens) }, tokens });
}
