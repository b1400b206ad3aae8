// What the engine "generates" and how it counts: words chosen by the prompt's own hash, so that equal questions get equal
// answers and a changed prompt shows in the answer.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { seededNumbers } from './chance.ts';

const WORDS = [
  'a river carries warm light over quiet fields while the old engine counts every word it says',
  'no model lives here yet each answer returns the same way twice and costs nothing but time',
]
  .join(' ')
  .split(' ');

const FILLER_MIN = 16;
const FILLER_MAX = 48;

/** Upper bound of `min_tokens`. */
export const MIN_TOKENS_MAX = 131_072;

export interface Question {
  readonly engine: string;
  readonly model: string;
  readonly prompt: string;
  /** 0 to MIN_TOKENS_MAX: the answer is at least this long, as vLLM's `min_tokens` has it. */
  readonly minTokens: number;
  /** 1 or more; wins over `minTokens`. Infinity when the client sets no limit. */
  readonly maxTokens: number;
}

export interface Answer {
  /** One piece a token, at least one; joined they are the text. */
  readonly pieces: readonly string[];
  /** `length` when `maxTokens` cut it. */
  readonly finishReason: 'stop' | 'length';
}

/** Estimated tokens of a text the engine reads: a quarter of its UTF-8 bytes, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** The first 8 hex digits of a prompt's SHA-256; enough to see that a router left it as it was. */
export function digestOf(prompt: string): string {
  return createHash('sha256').update(prompt).digest('hex').slice(0, 8);
}

/** `engine NAME, model MODEL: prompt DIGEST` and 16 to 48 words; a word with the blank before it is a token. */
export function answerTo(question: Question): Answer {
  const digest = digestOf(question.prompt);
  const opening = `engine ${question.engine}, model ${question.model}: prompt ${digest}`.split(' ');
  const next = seededNumbers(digest);
  const filler = FILLER_MIN + Math.floor(next() * (FILLER_MAX - FILLER_MIN + 1));
  const wanted = Math.max(opening.length + filler, question.minTokens);
  const length = Math.min(wanted, question.maxTokens);
  const pieces = Array.from({ length }, (_, index) => {
    const word = opening[index] ?? WORDS[Math.floor(next() * WORDS.length)] ?? '';
    return index === 0 ? word : ` ${word}`;
  });
  return { pieces, finishReason: length < wanted ? 'length' : 'stop' };
}
