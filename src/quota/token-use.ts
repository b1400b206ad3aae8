// How many of the day's tokens a request may use before its engine has said anything, and how many its answer did use.

import type { TokenDemand } from './daily-budget.ts';

/** Output that is reserved, as far as the budget has it, for each answer that does not say how long it may be. */
export const UNDECLARED_OUTPUT_TOKENS = 4_096;

/**
 * What a request may use. `estimate`: of its prompt, 0 or more. `declared`: output tokens of all its answers; 0, a negative
 * one and undefined declare nothing (T25). `answerCount`: from 1.
 */
export function tokenDemand(estimate: number, declared = 0, answerCount = 1): TokenDemand {
  const least = Math.max(1, Math.min(estimate + Math.max(0, declared), Number.MAX_SAFE_INTEGER));
  const undeclared = UNDECLARED_OUTPUT_TOKENS * answerCount;
  return { least, most: declared > 0 ? least : Math.min(least + undeclared, Number.MAX_SAFE_INTEGER) };
}

/** What was read of an answer on its way. */
export interface AnswerReading {
  /** As its engine said; undefined when it said nothing. */
  readonly use: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  /** It came to its own end. */
  readonly isFinished: boolean;
  /** Output tokens that were seen to pass, estimated, 0 or more. */
  readonly seenTokens: number;
}

/**
 * The input that an answer is charged: what its engine said. For what it left out, as in a stream that was cut or not asked
 * for its usage, the estimate of the prompt and what was seen of the output stand in.
 */
export function inputUsed(estimate: number, { use }: AnswerReading): number {
  return use?.inputTokens || estimate;
}

/** The output, likewise. */
export function outputUsed({ use, isFinished, seenTokens }: AnswerReading): number {
  if (use === undefined) return seenTokens;
  // Anthropic's streams begin with the output so far and tell the rest last.
  return isFinished ? use.outputTokens : Math.max(use.outputTokens, seenTokens);
}
