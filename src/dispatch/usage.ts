// The tokens that an engine says it used, read from its answer in either dialect. Only the few bytes around them are
// parsed; an answer without them, or one that is odd, has no use and is no fault.

import { Buffer } from 'node:buffer';
import { memberOf, parseJson, parseText } from '../agents/engine-body.ts';
import type { TokenUse } from '../agents/track-record.ts';
import { findMembers } from '../lib/json-members.ts';
import { latin1Text } from '../lib/latin1.ts';

/** How the member is written that every dialect uses. */
const USAGE_NAME = Buffer.from('"usage"');

/** Bytes at the end of a long document in which its use is looked for. */
export const USE_TAIL_BYTES = 4_096;

/**
 * `usage` as the last object of a document, where engines put it behind thousands of vectors: only plain members may
 * follow, so that it can be no other object's.
 */
const LAST_USAGE =
  /"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})(?:\s*,\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[^\s",:{}[\]]+))*\s*\}\s*$/;

/** The use that a whole JSON document tells in its own `usage`. */
export function useOfDocument(bytes: Uint8Array): TokenUse | undefined {
  // Nearly every engine puts it last: then the rest need not be read.
  const last = useOfTail(bytes);
  if (last !== undefined || !asBuffer(bytes).includes(USAGE_NAME)) return last;
  const span = findMembers(bytes, 'usage').at(-1);
  return span === undefined ? undefined : useIn(parseJson(bytes.subarray(span.start, span.end)));
}

/** The use that stands in the last bytes of a document; not read when other objects or lists follow it. */
export function useOfTail(bytes: Uint8Array): TokenUse | undefined {
  // latin1, which is a copy: the names and figures that are looked for are ASCII.
  const tail = latin1Text(bytes, Math.max(0, bytes.byteLength - USE_TAIL_BYTES));
  const usage = LAST_USAGE.exec(tail)?.[1];
  return usage === undefined ? undefined : useIn(parseText(usage));
}

/**
 * The use that one event tells: its own `usage`, which OpenAI's last chunk and Anthropic's `message_delta` have, or that of
 * its `message`, as in Anthropic's `message_start`.
 */
export function useOfEvent(event: unknown): TokenUse | undefined {
  return useIn(memberOf(event, 'usage') ?? memberOf(memberOf(event, 'message'), 'usage'));
}

/** What is known after `said` has followed `known`: both tell totals so far, and either may leave one of them out. */
export function latestUse(known: TokenUse | undefined, said: TokenUse | undefined): TokenUse | undefined {
  if (known === undefined || said === undefined) return said ?? known;
  return {
    inputTokens: said.inputTokens === 0 ? known.inputTokens : said.inputTokens,
    outputTokens: Math.max(known.outputTokens, said.outputTokens),
  };
}

/** A reranker may tell the total alone. Undefined when no number is there. */
function useIn(usage: unknown): TokenUse | undefined {
  const output = countIn(usage, 'completion_tokens') ?? countIn(usage, 'output_tokens');
  const input = countIn(usage, 'prompt_tokens') ?? anthropicInput(usage);
  const total = countIn(usage, 'total_tokens');
  if (output === undefined && input === undefined && total === undefined) return undefined;
  const outputTokens = output ?? 0;
  return { inputTokens: input ?? Math.max(0, (total ?? 0) - outputTokens), outputTokens };
}

/** Anthropic counts what it reads from a cache, or writes into one, beside the rest of the prompt. */
function anthropicInput(usage: unknown): number | undefined {
  const input = countIn(usage, 'input_tokens');
  if (input === undefined) return undefined;
  const cached = ['cache_read_input_tokens', 'cache_creation_input_tokens'].map((name) => countIn(usage, name) ?? 0);
  return cached.reduce((sum, count) => sum + count, input);
}

/** A count that can be one: whole, and not below 0. */
function countIn(usage: unknown, name: string): number | undefined {
  const count = memberOf(usage, name);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The same bytes with a buffer's fast searches. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
