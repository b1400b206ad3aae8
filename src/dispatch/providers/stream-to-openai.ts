// Anthropic's events as OpenAI's chunks (platform.claude.com/docs, "Streaming messages"): each becomes one chunk or
// none, at once.

import * as v from 'valibot';
import { memberOf } from '../../agents/engine-body.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import type { Failure } from '../failure.ts';
import { AnswerBlock } from './answer-to-openai.ts';
import type { ProviderEvent } from './event-reader.ts';
import { type Json, readAnswer, Text } from './fields.ts';
import { finishReason } from './stop-reason.ts';
import { errorOf, type StreamConversion, strayEvent } from './stream-conversion.ts';
import { AnthropicUsage, countsOfAnthropic, openaiUsage, type TokenCounts } from './token-counts.ts';

const Index = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const Delta = v.looseObject({ type: Text });
const TextDelta = v.object({ text: Text });
const InputDelta = v.object({ partial_json: Text });

const Event = v.variant('type', [
  v.object({ type: v.literal('message_start'), message: v.object({ id: Text, model: Text, usage: AnthropicUsage }) }),
  v.object({ type: v.literal('content_block_start'), index: Index, content_block: AnswerBlock }),
  v.object({ type: v.literal('content_block_delta'), index: Index, delta: Delta }),
  v.object({ type: v.literal('content_block_stop'), index: Index }),
  v.object({
    type: v.literal('message_delta'),
    delta: v.object({ stop_reason: v.nullish(Text) }),
    usage: v.nullish(AnthropicUsage),
  }),
  v.object({ type: v.literal('message_stop') }),
  v.object({ type: v.literal('error'), error: v.optional(v.unknown()) }),
]);

type EventOf<Type> = Extract<v.InferOutput<typeof Event>, { type: Type }>;

const KNOWN_TYPES: readonly unknown[] = Event.options.map((option) => option.entries.type.literal);

/** The block that is being sent: Anthropic sends one after the other. */
interface OpenBlock {
  readonly index: number;
  readonly block: v.InferOutput<typeof AnswerBlock>;
  /** Whether arguments have been sent: a call without any must not end as empty text, which is no JSON. */
  hasInput: boolean;
}

export interface OpenaiStreamSettings {
  readonly nowMs: number;
  /** The client asked for a last chunk with the use of tokens; all others then say `usage: null`. */
  readonly includeUsage: boolean;
  /** What the provider was asked with, and must not repeat to the client. */
  readonly secret: string;
}

export class StreamToOpenai implements StreamConversion {
  /** A comment alone, without the blank line that some clients take for an event. */
  readonly keepAlive = ': ping\n';
  readonly #settings: OpenaiStreamSettings;
  #head: Json | undefined;
  #open: OpenBlock | undefined;
  #calls = 0;
  #finish: string | undefined;
  #tokens: TokenCounts | undefined;
  #isOver = false;

  constructor(settings: OpenaiStreamSettings) {
    this.#settings = settings;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get tokens(): TokenCounts | undefined {
    return this.#tokens;
  }

  next({ data }: ProviderEvent): Result<string, Failure> {
    const document = parseExactJson(data);
    if (!document.ok) return strayEvent('an event is not JSON');
    // Kinds to come, and pings, are no error (platform.claude.com/docs, "Versioning").
    if (!KNOWN_TYPES.includes(memberOf(document.value, 'type'))) return ok('');
    const event = readAnswer(Event, document.value);
    if (!event.ok) return strayEvent(event.fault);
    if (event.value.type === 'error') return errorOf(data, event.value.error, this.#settings.secret);
    if (event.value.type === 'message_start') return this.#start(event.value);
    return this.#head === undefined ? strayEvent('it did not begin') : this.#continue(event.value);
  }

  #start({ message: { id, model, usage } }: EventOf<'message_start'>): Result<string, Failure> {
    if (this.#head !== undefined) return strayEvent('it began twice');
    this.#head = { id, object: 'chat.completion.chunk', created: Math.floor(this.#settings.nowMs / 1000), model };
    this.#tokens = countsOfAnthropic(usage);
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #continue(event: Exclude<v.InferOutput<typeof Event>, EventOf<'error' | 'message_start'>>): Result<string, Failure> {
    switch (event.type) {
      case 'content_block_start':
        return this.#startBlock(event);
      case 'content_block_delta':
        return this.#continueBlock(event);
      case 'content_block_stop':
        return this.#endBlock(event.index);
      case 'message_delta':
        return this.#noteEnd(event);
      case 'message_stop':
        return this.#end();
    }
  }

  #startBlock({ index, content_block: block }: EventOf<'content_block_start'>): Result<string, Failure> {
    if (this.#open !== undefined) return strayEvent('a block began within another');
    this.#open = { index, block, hasInput: false };
    if (block?.type === 'text') return block.text === '' ? ok('') : this.#chunk({ content: block.text });
    if (block === undefined) return ok('');
    this.#calls += 1;
    return this.#callChunk({ id: block.id, type: 'function', function: { name: block.name, arguments: '' } });
  }

  #continueBlock({ index, delta }: EventOf<'content_block_delta'>): Result<string, Failure> {
    const open = this.#open;
    if (open?.index !== index) return strayEvent('a part belongs to no open block');
    if (open.block?.type === 'text' && delta.type === 'text_delta') {
      const read = readAnswer(TextDelta, delta);
      return read.ok ? this.#chunk({ content: read.value.text }) : strayEvent(read.fault);
    }
    if (open.block?.type !== 'tool_use' || delta.type !== 'input_json_delta') return ok('');
    const read = readAnswer(InputDelta, delta);
    if (!read.ok) return strayEvent(read.fault);
    if (read.value.partial_json === '') return ok('');
    open.hasInput = true;
    return this.#callChunk({ function: { arguments: read.value.partial_json } });
  }

  #endBlock(index: number): Result<string, Failure> {
    const open = this.#open;
    if (open?.index !== index) return strayEvent('a block ended that is not open');
    this.#open = undefined;
    if (open.block?.type !== 'tool_use' || open.hasInput) return ok('');
    return this.#callChunk({ function: { arguments: JSON.stringify(open.block.input) } });
  }

  /** There may be several; one tells the reason. */
  #noteEnd({ delta, usage }: EventOf<'message_delta'>): Result<string, Failure> {
    if (usage) this.#tokens = countsOfAnthropic(usage, this.#tokens);
    if (typeof delta.stop_reason !== 'string' || this.#finish !== undefined) return ok('');
    this.#finish = finishReason(delta.stop_reason);
    return this.#chunk({}, this.#finish);
  }

  #end(): Result<string, Failure> {
    if (this.#finish === undefined) return strayEvent('it ended without a reason');
    this.#isOver = true;
    const usage = this.#tokens !== undefined && this.#settings.includeUsage ? openaiUsage(this.#tokens) : undefined;
    const last = usage === undefined ? '' : eventText({ ...this.#head, choices: [], usage });
    return ok(`${last}data: [DONE]\n\n`);
  }

  #callChunk(call: Json): Result<string, Failure> {
    return this.#chunk({ tool_calls: [{ index: this.#calls - 1, ...call }] });
  }

  #chunk(delta: Json, finish: string | null = null): Result<string, Failure> {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
    const usage = this.#settings.includeUsage ? { usage: null } : {};
    return ok(eventText({ ...this.#head, choices: [choice], ...usage }));
  }
}

function eventText(chunk: Json): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
