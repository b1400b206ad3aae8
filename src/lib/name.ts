// What a name in a document may be, wherever names are shown in logs, headers and metrics.

import { encodeUtf8 } from './utf8.ts';

/** Longest name, in UTF-8 bytes: as the map's rule for models (D-71), so that a name can be sent wherever a model can. */
export const NAME_MAX_BYTES = 256;

/** To stand behind what the name is of. */
export const NAME_RULE = `must be text of 1 to ${NAME_MAX_BYTES} bytes without control characters`;

const CONTROL_CHARACTER = /\p{Cc}/u;

/** Whether `text` keeps {@link NAME_RULE} and has no lone surrogate. */
export function isName(text: string): boolean {
  const isShort = text.length <= NAME_MAX_BYTES && encodeUtf8(text).length <= NAME_MAX_BYTES;
  return text !== '' && isShort && text.isWellFormed() && !CONTROL_CHARACTER.test(text);
}
