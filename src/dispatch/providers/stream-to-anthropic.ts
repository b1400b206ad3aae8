// OpenAI's chunks as Anthropic's events (platform.openai.com/docs/api-reference/chat-streaming): blocks are opened and
// closed around what the chunks bring, at once.

import * as v from 'valibot';
import { memberOf } from '../../agents/engine-body.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import type { Failure } from '../failure.ts';
import { DIRECT } from './answer-to-anthropic.ts';
import { EVENT_MAX, type ProviderEvent } from './event-reader.ts';
import { type Json, readAnswer, Text } from './fields.ts';
import { Arguments } from './openai-request.ts';
import { stopReason } from './stop-reason.ts';
import { errorOf, type StreamConversion, strayEvent } from './stream-conversion.ts';
import { anthropicUsage, countsOfOpenai, NO_TOKENS, OpenaiUsage, type TokenCounts } from './token-counts.ts';

const CallPart = v.object({
  index: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  id: v.nullish(Text),
  function: v.nullish(v.object({ name: v.nullish(Text), arguments: v.nullish(Text) })),
});

const Delta = v.object({
  content: v.nullish(Text),
  refusal: v.nullish(Text),
  tool_calls: v.nullish(v.array(CallPart)),
});

const Chunk = v.object({
  id: Text,
  model: Text,
  choices: v.array(v.object({ delta: Delta, finish_reason: v.nullish(Text) })),
  usage: v.nullish(OpenaiUsage),
});

/** The block that is being sent; `call` is OpenAI's index of a tool call, undefined for text. */
interface OpenBlock {
  readonly call: number | undefined;
  /** Of a call: its arguments so far. */
  input: string;
}

export class StreamToAnthropic implements StreamConversion {
  readonly keepAlive = eventText('ping', {});
  readonly #secret: string;
  #hasBegun = false;
  #open: OpenBlock | undefined;
  /** Blocks begun; the open one is the last of them. */
  #blocks = 0;
  #callsBegun = 0;
  /** A call has ended whose arguments are no JSON object. */
  #hasBrokenCall = false;
  #isRefusal = false;
  #finish: string | undefined;
  #tokens: TokenCounts | undefined;
  #isOver = false;

  /** `secret`: what the provider was asked with, and must not repeat to the client. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get tokens(): TokenCounts | undefined {
    return this.#tokens;
  }

  next({ data }: ProviderEvent): Result<string, Failure> {
    if (data === '[DONE]') return this.#end();
    const document = parseExactJson(data);
    if (!document.ok) return strayEvent('an event is not JSON');
    const error = memberOf(document.value, 'error') ?? undefined;
    if (error !== undefined) return errorOf(data, error, this.#secret);
    const chunk = readAnswer(Chunk, document.value);
    if (!chunk.ok) return strayEvent(chunk.fault);
    if (chunk.value.usage) this.#tokens = countsOfOpenai(chunk.value.usage);
    const begin = this.#begin(chunk.value);
    const [choice] = chunk.value.choices;
    if (choice === undefined) return ok(begin);
    const said = this.#say(choice.delta);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
    return said.ok ? ok(begin + said.value) : said;
  }

  /** How many tokens the prompt has, OpenAI says at the end only. */
  #begin({ id, model }: v.InferOutput<typeof Chunk>): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const stop = { stop_reason: null, stop_sequence: null, stop_details: null };
    const message = { id, type: 'message', role: 'assistant', model, content: [], ...stop };
    return eventText('message_start', { message: { ...message, usage: anthropicUsage(NO_TOKENS) } });
  }

  #say({ content, refusal, tool_calls: calls }: v.InferOutput<typeof Delta>): Result<string, Failure> {
    if (typeof refusal === 'string' && refusal !== '') this.#isRefusal = true;
    const events = [this.#sayText(content ?? '') + this.#sayText(refusal ?? '')];
    for (const call of calls ?? []) {
      const part = this.#sayCall(call);
      if (!part.ok) return part;
      events.push(part.value);
    }
    return ok(events.join(''));
  }

  #sayText(text: string): string {
    if (text === '') return '';
    const isOpen = this.#open !== undefined && this.#open.call === undefined;
    const begin = isOpen ? '' : this.#beginBlock(undefined, { type: 'text', text: '', citations: null });
    return begin + this.#deltaEvent({ type: 'text_delta', text });
  }

  #sayCall({ index, id, function: part }: v.InferOutput<typeof CallPart>): Result<string, Failure> {
    const input = part?.arguments ?? '';
    if (this.#open?.call === index) return this.#sayInput(this.#open, input);
    if (index !== this.#callsBegun) return strayEvent('parts of several tool calls are mixed');
    if (!id || !part?.name) return strayEvent('a tool call began without its ID or name');
    this.#callsBegun += 1;
    const begin = this.#beginBlock(index, { type: 'tool_use', id, name: part.name, input: {}, caller: DIRECT });
    const said = this.#open === undefined ? ok('') : this.#sayInput(this.#open, input);
    return said.ok ? ok(begin + said.value) : said;
  }

  #sayInput(open: OpenBlock, input: string): Result<string, Failure> {
    open.input += input;
    if (open.input.length > EVENT_MAX) return strayEvent(`a tool call is longer than ${EVENT_MAX} characters`);
    return ok(input === '' ? '' : this.#deltaEvent({ type: 'input_json_delta', partial_json: input }));
  }

  #beginBlock(call: number | undefined, block: Json): string {
    const end = this.#endBlock();
    this.#open = { call, input: '' };
    this.#blocks += 1;
    return end + eventText('content_block_start', { index: this.#blocks - 1, content_block: block });
  }

  #deltaEvent(delta: Json): string {
    return eventText('content_block_delta', { index: this.#blocks - 1, delta });
  }

  #endBlock(): string {
    if (this.#open === undefined) return '';
    const { call, input } = this.#open;
    if (call !== undefined && !v.is(Arguments, input)) this.#hasBrokenCall = true;
    this.#open = undefined;
    return eventText('content_block_stop', { index: this.#blocks - 1 });
  }

  #end(): Result<string, Failure> {
    if (this.#finish === undefined) return strayEvent('it ended without a reason');
    const end = this.#endBlock();
    // The client has the pieces already, and SDKs complete them as well as they can: it must not run what they make of it.
    if (this.#hasBrokenCall && this.#finish !== 'length') {
      return strayEvent('the arguments of a tool call are no JSON object');
    }
    this.#isOver = true;
    const reason = this.#isRefusal ? 'refusal' : stopReason(this.#finish, { hasCalls: this.#callsBegun > 0 });
    const delta = { stop_reason: reason, stop_sequence: null, stop_details: null };
    const last = eventText('message_delta', { delta, usage: anthropicUsage(this.#tokens ?? NO_TOKENS) });
    return ok(end + last + eventText('message_stop', {}));
  }
}

/** Anthropic's clients read the name of an event, and its type in the data. */
function eventText(type: string, members: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
