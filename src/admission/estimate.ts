// How many tokens a prompt has, before any engine has counted it: its bytes times a ratio that each model's own answers
// teach (api.md §15). The caller asks once for a request and shows the one figure to every gate (T26).

import type { Prompt } from './prompt.ts';

/** Tokens per byte of a model that has taught nothing yet: 1/3.2. */
export const COLD_RATIO = 0.3125;
/** Weight of the newest sample. */
const LEARNING_RATE = 0.2;
const RATIO_MIN = 0.05;
const RATIO_MAX = 1;
/** What a message costs besides its text. */
const TOKENS_PER_MESSAGE = 4;

/** Models remembered; the one whose last lesson is oldest is forgotten first. */
export const MODELS_MAX = 1_000;

export class TokenRatios {
  /** Tokens per byte by model, in the order of the last lesson. */
  readonly #ratios = new Map<string, number>();

  /** Models that have taught something, at most {@link MODELS_MAX}. */
  get size(): number {
    return this.#ratios.size;
  }

  /** Tokens of the prompt, images not counted. */
  estimate(model: string, { textBytes, messageCount }: Prompt): number {
    const ratio = this.#ratios.get(model) ?? COLD_RATIO;
    return Math.max(Math.ceil(textBytes * ratio), TOKENS_PER_MESSAGE * messageCount);
  }

  /**
   * An engine of this site has answered the prompt and told its exact tokens. Says nothing of text when the prompt has
   * images. Not for providers' answers: their tokenizers are others.
   */
  learn(model: string, { textBytes, imageCount }: Prompt, exactTokens: number): void {
    if (exactTokens <= 0 || textBytes <= 0 || imageCount > 0) return;
    const observed = Math.min(Math.max(exactTokens / textBytes, RATIO_MIN), RATIO_MAX);
    const ratio = LEARNING_RATE * observed + (1 - LEARNING_RATE) * (this.#ratios.get(model) ?? COLD_RATIO);
    this.#ratios.delete(model);
    this.#ratios.set(model, ratio);
    for (const oldest of this.#ratios.keys()) {
      if (this.#ratios.size <= MODELS_MAX) break;
      this.#ratios.delete(oldest);
    }
  }
}
