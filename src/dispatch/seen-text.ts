// How much an answer has said, for those of which the engine does not tell it: cut streams, and streams that were not
// asked for their usage. An estimate, from the bytes under the names that hold what a model wrote.

import { Buffer } from 'node:buffer';
import { plainEnd } from '../lib/json-bytes.ts';
import { escapedBytes } from '../lib/json-escape.ts';
import { BACKSLASH } from '../lib/json-marks.ts';

/** Of both dialects: text, reasoning, and the arguments of tool calls. */
const SAID = /"(?:content|text|reasoning(?:_content)?|thinking|partial_json|arguments|refusal)"\s*:\s*"/g;

/** Bytes of text for one token, as the Go router counts what it cannot know (api.md §15.3). */
const BYTES_PER_TOKEN = 4;
const LETTER_U = 0x75;

/** Under this name, and nowhere before it, stands what an event of either dialect adds. */
const DELTA = Buffer.from('"delta"');

/** UTF-8 bytes of what the model says in an event. */
export function saidInEvent(json: Buffer): number {
  const start = json.indexOf(DELTA);
  return start === -1 ? 0 : saidFrom(json, start);
}

/** The same in a whole answer. */
export function saidInDocument(json: Buffer): number {
  return saidFrom(json, 0);
}

function saidFrom(json: Buffer, start: number): number {
  let bytes = 0;
  // latin1, so that a place in the text is one in the bytes.
  const text = json.toString('latin1', start);
  SAID.lastIndex = 0;
  while (SAID.test(text)) bytes += stringBytes(json, start + SAID.lastIndex);
  return bytes;
}

/** Tokens of that many bytes that came in `pieces` of at least one token each, 0 or more. */
export function saidTokens(bytes: number, pieces: number): number {
  return Math.max(pieces, Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** Of the string whose text begins at `start`. */
function stringBytes(json: Buffer, start: number): number {
  let bytes = 0;
  for (let at = start; ; ) {
    const plain = plainEnd(json, at, json.length);
    bytes += plain - at;
    if (json[plain] !== BACKSLASH) return bytes;
    bytes += escapedBytes(json, plain);
    at = plain + (json[plain + 1] === LETTER_U ? 6 : 2);
  }
}
