// Why a model stopped, in the words of both dialects.

/** Anthropic's word; what is not listed has ended its turn. `pause_turn` comes with server tools only, and none are sent. */
const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/** OpenAI's `finish_reason` for Anthropic's `stop_reason`. */
export function finishReason(stopReason: string | null | undefined): string {
  return FINISH_REASONS.get(stopReason ?? '') ?? 'stop';
}

/**
 * Anthropic's `stop_reason` for OpenAI's `finish_reason`. OpenAI says `stop` after a call that the request asked for by
 * name; Anthropic's clients run tools only at `tool_use`. Where no call is left that could be run, the turn has ended.
 */
export function stopReason(finish: string | null | undefined, { hasCalls }: { hasCalls: boolean }): string {
  const reason = STOP_REASONS.get(finish ?? '') ?? 'end_turn';
  if (reason === 'tool_use' && !hasCalls) return 'end_turn';
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason;
}
