// Gate B1: what no request for the model may bring, whoever asks and however idle the engines are (api.md §14).

import type { AdmissionLimits } from '../policy/policy.ts';

/** Why the request is too large, as a sentence for the client; undefined when it is not. Both limits are inclusive. */
export function whyTooLarge(
  { maxInputTokens, imagesMax }: AdmissionLimits,
  { promptTokens, imageCount }: { readonly promptTokens: number; readonly imageCount: number },
): string | undefined {
  if (maxInputTokens > 0 && promptTokens > maxInputTokens) {
    return `The prompt has about ${promptTokens} tokens: at most ${maxInputTokens} are allowed for this model.`;
  }
  if (imagesMax > 0 && imageCount > imagesMax) {
    return `The messages have ${imageCount} images: at most ${imagesMax} are allowed for this model.`;
  }
  return undefined;
}
