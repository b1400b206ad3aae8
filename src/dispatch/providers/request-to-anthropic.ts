// An OpenAI chat request as Anthropic's: total once the request has been read, for what has no counterpart was refused.

import { fault, ok, type Result } from '../../lib/result.ts';
import { type Json, readAs } from './fields.ts';
import { type OpenaiMessage, OpenaiRequest, type OpenaiTool, type OpenaiToolChoice } from './openai-request.ts';

/** Anthropic asks for a limit; where the client sets none, it gets what the Go router sends (routing.md §20). */
const DEFAULT_MAX_TOKENS = 4096;

/**
 * `document` is the client's request, parsed. The fault names the member that has no counterpart. Members that are
 * undefined are not written.
 */
export function requestToAnthropic(document: unknown, model: string): Result<Json, string> {
  const read = readAs(OpenaiRequest, document);
  if (!read.ok) return read;
  const request = read.value;
  const { system, dialogue } = splitSystem(request.messages);
  const messages = mergeTurns(dialogue.flatMap(turnOf));
  const emptyAt = messages.findIndex(({ content }) => content.length === 0);
  if (emptyAt !== -1) return fault(`"messages" hold a turn of role "${messages[emptyAt]?.role}" that says nothing`);
  return ok({
    model,
    max_tokens: request.max_completion_tokens ?? request.max_tokens ?? DEFAULT_MAX_TOKENS,
    system: system.length === 0 ? undefined : shortForm(system),
    messages: messages.map(({ role, content }) => ({ role, content: shortForm(content) })),
    temperature: request.temperature ?? undefined,
    top_p: request.top_p ?? undefined,
    stop_sequences: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? undefined),
    stream: request.stream ?? undefined,
    tools: request.tools?.map(toolOf),
    tool_choice: toolChoiceOf(request),
    metadata: userOf(request),
    ...thinkingOf(request),
  });
}

type Turn = { readonly role: 'user' | 'assistant' | 'system'; readonly content: readonly Json[] };

/** Instructions that open the conversation are Anthropic's `system`; later ones keep their place in it. */
function splitSystem(messages: readonly OpenaiMessage[]): {
  system: readonly Json[];
  dialogue: readonly OpenaiMessage[];
} {
  const start = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const end = start === -1 ? messages.length : start;
  const system = messages.slice(0, end).flatMap((message) => textBlocks(message.content));
  return { system, dialogue: messages.slice(end) };
}

function turnOf(message: OpenaiMessage): Turn {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textBlocks(message.content) };
    case 'user':
      return { role: 'user', content: contentBlocks(message.content) };
    case 'assistant':
      return { role: 'assistant', content: assistantBlocks(message) };
    case 'tool': {
      const content = textBlocks(message.content);
      const result = { type: 'tool_result', tool_use_id: message.tool_call_id };
      return { role: 'user', content: [content.length === 0 ? result : { ...result, content: shortForm(content) }] };
    }
  }
}

type Parts = OpenaiMessage['content'];

function contentBlocks(content: Parts): readonly Json[] {
  if (typeof content === 'string') return textBlock(content);
  return (content ?? []).flatMap((part) => {
    if (part.type === 'image_url') return [{ type: 'image', source: part.image_url.url }];
    return textBlock(part.type === 'refusal' ? part.refusal : part.text);
  });
}

const textBlocks: (content: Parts) => readonly Json[] = contentBlocks;

/** Anthropic takes no empty text, and it says nothing. */
function textBlock(text: string): readonly Json[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function assistantBlocks(message: Extract<OpenaiMessage, { role: 'assistant' }>): readonly Json[] {
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => {
    return { type: 'tool_use', id, name, input };
  });
  return [...contentBlocks(message.content), ...textBlock(message.refusal ?? ''), ...calls];
}

/** The results of parallel calls belong into one turn, and Anthropic's turns alternate. */
function mergeTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: { readonly role: Turn['role']; readonly content: Json[] }[] = [];
  for (const { role, content } of turns) {
    const last = merged.at(-1);
    if (last?.role !== role) merged.push({ role, content: [...content] });
    else for (const block of content) last.content.push(block);
  }
  return merged.filter(({ role, content }) => role !== 'system' || content.length > 0);
}

/** A single text is written as text, as clients do. */
function shortForm(blocks: readonly Json[]): string | readonly Json[] {
  const [block, second] = blocks;
  return second === undefined && typeof block?.['text'] === 'string' ? block['text'] : blocks;
}

function toolOf({ function: { name, description, parameters, strict } }: OpenaiTool): Json {
  return {
    name,
    description: description ?? undefined,
    input_schema: parameters ?? { type: 'object', properties: {} },
    strict: strict === true ? true : undefined,
  };
}

/** Without tools a choice of none or any kind of call says nothing, and Anthropic refuses it. */
function toolChoiceOf(request: OpenaiRequest): Json | undefined {
  const { tools, tool_choice: choice, parallel_tool_calls: isParallel } = request;
  if ((tools ?? []).length === 0 && (choice ?? 'auto') !== 'required' && typeof choice !== 'object') return undefined;
  if (choice === 'none') return { type: 'none' };
  const one = isParallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === null || choice === undefined) return isParallel === false ? { type: 'auto', ...one } : undefined;
  return { ...namedChoice(choice), ...one };
}

function namedChoice(choice: Exclude<OpenaiToolChoice, 'none'>): Json {
  if (typeof choice === 'object') return { type: 'tool', name: choice.function.name };
  return { type: choice === 'required' ? 'any' : 'auto' };
}

function userOf({ safety_identifier: identifier, user }: OpenaiRequest): Json | undefined {
  const id = identifier ?? user ?? undefined;
  return id === undefined ? undefined : { user_id: id };
}

function thinkingOf({ reasoning_effort: effort, response_format: format }: OpenaiRequest): Json {
  const schema = format?.type === 'json_schema' ? format.json_schema.schema : undefined;
  const config = {
    effort: effort === 'none' ? undefined : (effort ?? undefined),
    format: schema && { type: 'json_schema', schema },
  };
  const hasConfig = config.effort !== undefined || schema !== undefined;
  return {
    thinking: effort === 'none' ? { type: 'disabled' } : undefined,
    output_config: hasConfig ? config : undefined,
  };
}
