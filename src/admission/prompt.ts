// What admission needs to know of a request's body: how much text and how many images it brings, and how much output it
// asks for. Read from the bytes in one walk, so that a body of many MiB is not built as a tree.

import { Buffer } from 'node:buffer';
import { skipString, skipValue } from '../lib/json-skip.ts';
import { decodedBytes, isStringAt, walkItems, walkMembers } from '../lib/json-walk.ts';

/** A chat request, measured (api.md §15.1). All are whole numbers from 0. */
export interface Prompt {
  /** UTF-8 bytes of the texts of messages and system prompt, and of the JSON of `tools` as sent. Images have none. */
  readonly textBytes: number;
  readonly messageCount: number;
  /** Image parts of all messages, inside tool results too. */
  readonly imageCount: number;
  /** `max_completion_tokens`, else `max_tokens`; 0 when neither is above 0. */
  readonly declaredOutputTokens: number;
}

/** Part types of OpenAI's chat and responses dialects and of Anthropic's. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['"image_url"', '"input_image"', '"image"']);
/** Longest of them, with its quotes. */
const TYPE_MAX_BYTES = 13;

/** More output than any engine makes, and still exact in sums. */
const DECLARED_MAX = 1_000_000_000_000;
/** Characters of a number that are read: a longer one is no count of tokens. */
const NUMBER_MAX_BYTES = 32;

/** A tool result holds parts in a part; nothing that either dialect knows lies deeper. */
const NESTED_MAX = 1;

interface Tally {
  textBytes: number;
  images: number;
}

/**
 * `body` is one valid JSON object in UTF-8. What has another type than it should counts as absent: the engine judges it
 * (api.md T10). Of two members of one name the last counts, as in engines' parsers (T9).
 */
export function readPrompt(body: Uint8Array): Prompt {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let messages = { ...NOTHING, count: 0 };
  let system = NOTHING;
  let toolBytes = 0;
  const declared = { max_completion_tokens: 0, max_tokens: 0 };
  walkMembers(json, 0, (name, at) => {
    switch (name) {
      case 'messages':
        messages = { ...NOTHING, count: 0 };
        return walkItems(json, at, (item) => {
          messages.count += 1;
          return readMessage(json, item, messages);
        });
      case 'system':
        system = { ...NOTHING };
        return readContent(json, at, system, 0);
      case 'tools': {
        const end = skipValue(json, at);
        toolBytes = isNullAt(json, at) ? 0 : end - at;
        return end;
      }
      case 'max_completion_tokens':
      case 'max_tokens': {
        const end = skipValue(json, at);
        declared[name] = countAt(json, at, end);
        return end;
      }
      default:
        return skipValue(json, at);
    }
  });
  return {
    textBytes: messages.textBytes + system.textBytes + toolBytes,
    messageCount: messages.count,
    imageCount: messages.images,
    declaredOutputTokens: declared.max_completion_tokens || declared.max_tokens,
  };
}

const NOTHING: Readonly<Tally> = { textBytes: 0, images: 0 };

function readMessage(json: Buffer, start: number, tally: Tally): number {
  return walkMembers(json, start, (name, at) =>
    name === 'content' ? readContent(json, at, tally, 0) : skipValue(json, at),
  );
}

/** Text, or a list of parts. */
function readContent(json: Buffer, start: number, tally: Tally, depth: number): number {
  if (isStringAt(json, start)) return readText(json, start, tally);
  return walkItems(json, start, (item) => readPart(json, item, tally, depth));
}

function readPart(json: Buffer, start: number, tally: Tally, depth: number): number {
  return walkMembers(json, start, (name, at) => {
    if (name === 'text' && isStringAt(json, at)) return readText(json, at, tally);
    if (name === 'content' && depth < NESTED_MAX) return readContent(json, at, tally, depth + 1);
    const end = skipValue(json, at);
    if (name === 'type' && end - at <= TYPE_MAX_BYTES && IMAGE_TYPES.has(json.toString('latin1', at, end))) {
      tally.images += 1;
    }
    return end;
  });
}

function readText(json: Buffer, start: number, tally: Tally): number {
  const end = skipString(json, start);
  tally.textBytes += decodedBytes(json, start, end);
  return end;
}

function isNullAt(json: Buffer, at: number): boolean {
  return json[at] === 0x6e;
}

/** A number above 0, its fraction dropped; else 0, so that a negative one is undeclared at every gate (T25). */
function countAt(json: Buffer, start: number, end: number): number {
  if (end - start > NUMBER_MAX_BYTES || isStringAt(json, start)) return 0;
  const value = Number(json.toString('latin1', start, end));
  return value >= 1 ? Math.min(Math.floor(value), DECLARED_MAX) : 0;
}
