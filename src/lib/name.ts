// What a name in a document may be, wherever names are shown in logs, headers and metrics, and any other text of one line.

import { encodeUtf8 } from './utf8.ts';

/** Longest name, in UTF-8 bytes: as the map's rule for models (D-71), so that a name can be sent wherever a model can. */
export const NAME_MAX_BYTES = 256;

/** To stand behind what the text is of. */
export function textRule(maxBytes: number): string {
  return `must be text of 1 to ${maxBytes} bytes without control characters`;
}

export const NAME_RULE = textRule(NAME_MAX_BYTES);

const CONTROL_CHARACTER = /\p{Cc}/u;

/** Whether `text` keeps {@link textRule} and has no lone surrogate. */
export function isText(text: string, maxBytes: number): boolean {
  const isShort = text.length <= maxBytes && encodeUtf8(text).length <= maxBytes;
  return text !== '' && isShort && text.isWellFormed() && !CONTROL_CHARACTER.test(text);
}

/** Whether `text` keeps {@link NAME_RULE} and has no lone surrogate. */
export function isName(text: string): boolean {
  return isText(text, NAME_MAX_BYTES);
}
