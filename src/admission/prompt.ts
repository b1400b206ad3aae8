// What admission needs to know of a request's body: how much text and how many images it brings, and how much output it
// asks for. Read from the bytes in one walk, so that a body of many MiB is not built as a tree.

import { Buffer } from 'node:buffer';
import type { Steps } from '../lib/steps.ts';
import { PromptScan } from './prompt-scan.ts';

/** A chat request, measured (api.md §15.1). All are whole numbers from 0. */
export interface Prompt {
  /** UTF-8 bytes of the texts of messages and system prompt, and of the JSON of `tools` as sent. Images have none. */
  readonly textBytes: number;
  readonly messageCount: number;
  /** Image parts of all messages, inside tool results too. */
  readonly imageCount: number;
  /** `n`: how many answers are asked for, from 1. */
  readonly answerCount: number;
  /** Of all answers: `max_completion_tokens`, else `max_tokens`, times `n`; 0 when neither is above 0. */
  readonly declaredOutputTokens: number;
}

/** More output than any engine makes, and still exact in sums. */
const DECLARED_MAX = 1_000_000_000_000;

/** Bytes from pause to pause, one or two milliseconds of the densest JSON. */
const SLICE_BYTES = 65_536;

/**
 * `body` is one valid JSON object in UTF-8. What has another type than it should counts as absent: the engine judges it
 * (api.md T10). Of two members of one name the last counts, as in engines' parsers (T9). It pauses every `sliceBytes`.
 */
export function* readPrompt(body: Uint8Array, sliceBytes: number = SLICE_BYTES): Steps<Prompt> {
  const scan = new PromptScan(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  for (let end = sliceBytes; end < body.byteLength; end += sliceBytes) {
    scan.readTo(end);
    yield;
  }
  scan.readTo(body.byteLength);
  const { messages, system, values } = scan;
  const { counts } = values;
  const answerCount = answersIn(counts.get('n'));
  const ofEach = countIn(counts.get('max_completion_tokens')) || countIn(counts.get('max_tokens'));
  return {
    textBytes: messages.textBytes + system.textBytes + values.toolBytes,
    messageCount: messages.messages,
    imageCount: messages.images,
    answerCount,
    declaredOutputTokens: Math.min(ofEach * answerCount, DECLARED_MAX),
  };
}

/** 1 for what is no whole number from 1: the engine refuses it, or makes one answer. */
function answersIn(written: string | undefined): number {
  return Number.isInteger(Number(written)) ? Math.max(1, countIn(written)) : 1;
}

/** A number above 0, its fraction dropped; else 0, so that a negative one is undeclared at every gate (T25). */
function countIn(written = ''): number {
  const value = written.startsWith('"') ? 0 : Number(written);
  return value >= 1 ? Math.min(Math.floor(value), DECLARED_MAX) : 0;
}
