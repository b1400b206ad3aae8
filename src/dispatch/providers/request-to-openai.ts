// An Anthropic Messages request as OpenAI's: total once the request has been read, for what has no counterpart was
// refused.

import { fault, ok, type Result } from '../../lib/result.ts';
import {
  type AnthropicMessage,
  AnthropicRequest,
  type AnthropicTool,
  type AnthropicToolChoice,
  FORMAT_NAME,
} from './anthropic-request.ts';
import { type Json, readAs } from './fields.ts';
import { imageUrl } from './image.ts';

/** OpenAI's tool results carry no mark of failure: the model reads it. */
const TOOL_ERROR_PREFIX = 'Error: ';

/**
 * `document` is the client's request, parsed. The fault names the member that has no counterpart. Members that are
 * undefined are not written.
 */
export function requestToOpenai(document: unknown, model: string): Result<Json, string> {
  const read = readAs(AnthropicRequest, document);
  if (!read.ok) return read;
  const request = read.value;
  if (isPrefilled(request)) return fault(PREFILLED);
  return ok({
    model,
    messages: [...systemOf(request), ...request.messages.flatMap(messagesOf)],
    max_completion_tokens: request.max_tokens,
    temperature: request.temperature ?? undefined,
    top_p: request.top_p ?? undefined,
    stop: request.stop_sequences ?? undefined,
    stream: request.stream ?? undefined,
    // Anthropic's last event but one always tells the use of tokens.
    stream_options: request.stream === true ? { include_usage: true } : undefined,
    tools: request.tools?.map(toolOf),
    ...(request.tool_choice ? toolChoiceOf(request.tool_choice) : {}),
    user: request.metadata?.user_id ?? undefined,
    reasoning_effort: request.output_config?.effort ?? undefined,
    response_format: formatOf(request),
  });
}

const PREFILLED = '"messages" end with the beginning of the answer, which OpenAI does not continue';

/** Anthropic continues the words of a last turn that is the assistant's; OpenAI would answer them. */
function isPrefilled({ messages }: AnthropicRequest): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return false;
  return typeof last.content === 'string' || last.content.every(({ type }) => type !== 'tool_use');
}

function systemOf({ system }: AnthropicRequest): readonly Json[] {
  if (system === null || system === undefined || system.length === 0) return [];
  return [{ role: 'system', content: textContent(system) }];
}

type Message<Role extends AnthropicMessage['role']> = Extract<AnthropicMessage, { role: Role }>;

function messagesOf(message: AnthropicMessage): readonly Json[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: textContent(message.content) }];
    case 'user':
      return userMessages(message);
    case 'assistant':
      return [assistantMessage(message)];
  }
}

/** Tool results are messages of their own, and OpenAI wants them right behind the calls. */
function userMessages({ content }: Message<'user'>): readonly Json[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [toolMessage(block)] : []));
  const parts = content.flatMap((block): readonly Json[] => {
    if (block.type === 'image') return [{ type: 'image_url', image_url: { url: imageUrl(block.source) } }];
    return block.type === 'text' ? [textPart(block.text)] : [];
  });
  return parts.length === 0 ? results : [...results, { role: 'user', content: shortForm(parts) }];
}

type ToolResult = Extract<Exclude<Message<'user'>['content'], string>[number], { type: 'tool_result' }>;

function toolMessage({ tool_use_id: id, content, is_error: isError }: ToolResult): Json {
  const said = textContent(content ?? '');
  return { role: 'tool', tool_call_id: id, content: isError === true ? asError(said) : said };
}

function asError(said: string | readonly Json[]): string | readonly Json[] {
  return typeof said === 'string' ? TOOL_ERROR_PREFIX + said : [textPart(TOOL_ERROR_PREFIX), ...said];
}

function assistantMessage({ content }: Message<'assistant'>): Json {
  if (typeof content === 'string') return { role: 'assistant', content };
  const parts = content.flatMap((block) => (block.type === 'text' ? [textPart(block.text)] : []));
  const calls = content.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const { id, name, input } = block;
    return [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }];
  });
  const said = parts.length === 0 && calls.length > 0 ? null : shortForm(parts);
  return { role: 'assistant', content: said, tool_calls: calls.length === 0 ? undefined : calls };
}

function textContent(content: string | readonly { readonly text: string }[]): string | readonly Json[] {
  return typeof content === 'string' ? content : shortForm(content.map(({ text }) => textPart(text)));
}

function textPart(text: string): Json {
  return { type: 'text', text };
}

/** A single text is written as text, as clients do; OpenAI takes no empty list. */
function shortForm(parts: readonly Json[]): string | readonly Json[] {
  const [part, second] = parts;
  if (part === undefined) return '';
  return second === undefined && typeof part['text'] === 'string' ? part['text'] : parts;
}

function toolOf({ name, description, input_schema: parameters, strict }: AnthropicTool): Json {
  return {
    type: 'function',
    function: { name, description: description ?? undefined, parameters, strict: strict ?? undefined },
  };
}

function toolChoiceOf(choice: AnthropicToolChoice): Json {
  const isOneOnly = choice.type !== 'none' && choice.disable_parallel_tool_use === true;
  return { tool_choice: choiceOf(choice), parallel_tool_calls: isOneOnly ? false : undefined };
}

function choiceOf(choice: AnthropicToolChoice): string | Json {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.type === 'any' ? 'required' : choice.type;
}

function formatOf({ output_config: config }: AnthropicRequest): Json | undefined {
  const schema = config?.format?.schema;
  return schema && { type: 'json_schema', json_schema: { name: FORMAT_NAME, schema, strict: true } };
}
