// How much an answer has said, for those of which the engine does not tell it: cut streams, and streams that were not
// asked for their usage. An estimate, from the bytes under the names that hold what a model wrote.

import { escapedBytes } from '../lib/json-escape.ts';
import { BACKSLASH, QUOTE } from '../lib/json-marks.ts';
import { latin1Text } from '../lib/latin1.ts';

/** Of both dialects: text, reasoning, and the arguments of tool calls. */
const SAID = /"(?:content|text|reasoning(?:_content)?|thinking|partial_json|arguments|refusal)"\s*:\s*"/g;

/** Bytes of text for one token, as the Go router counts what it cannot know (api.md §15.3). */
const BYTES_PER_TOKEN = 4;
const LETTER_U = 0x75;

/** Under this name, and nowhere before it, stands what an event of either dialect adds. */
const DELTA = '"delta"';

/** UTF-8 bytes of what the model says in an event, as text with a character for each byte. */
export function saidInEvent(json: string): number {
  const start = json.indexOf(DELTA);
  return start === -1 ? 0 : saidFrom(json, start);
}

/** The same in the bytes of a whole answer. */
export function saidInDocument(json: Uint8Array): number {
  return saidFrom(latin1Text(json), 0);
}

function saidFrom(json: string, start: number): number {
  let bytes = 0;
  SAID.lastIndex = start;
  while (SAID.test(json)) bytes += stringBytes(json, SAID.lastIndex);
  return bytes;
}

/** Tokens of that many bytes that came in `pieces` of at least one token each, 0 or more. */
export function saidTokens(bytes: number, pieces: number): number {
  return Math.max(pieces, Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** Of the string whose text begins at `start`. */
function stringBytes(json: string, start: number): number {
  let bytes = 0;
  for (let at = start; at < json.length; ) {
    const byte = json.charCodeAt(at);
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) {
      const letter = json.charCodeAt(at + 1);
      bytes += escapedBytes(letter, json.charCodeAt(at + 2), json.charCodeAt(at + 3), json.charCodeAt(at + 4));
      at += letter === LETTER_U ? 6 : 2;
    } else {
      bytes += 1;
      at += 1;
    }
  }
  return bytes;
}
