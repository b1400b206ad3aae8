// How many values JSON holds, before anything is built of it: a few megabytes can make a tree that takes a second.

import type { Buffer } from 'node:buffer';
import { BRACE, BRACE_END, BRACKET, BRACKET_END, COMMA, QUOTE } from './json-marks.ts';
import { skipBlanks, skipString } from './json-skip.ts';

/**
 * Whether a valid document holds more than `max` values, itself, items and members alike: one for each comma, and one for
 * each array or object that is not empty. For anything else it means nothing.
 */
export function holdsMoreValues(json: Buffer, max: number): boolean {
  let values = 1;
  let isOpened = false;
  for (let at = skipBlanks(json, 0); at < json.length && values <= max; ) {
    const mark = json[at];
    if (isOpened && mark !== BRACKET_END && mark !== BRACE_END) values += 1;
    isOpened = mark === BRACKET || mark === BRACE;
    if (mark === COMMA) values += 1;
    at = skipBlanks(json, mark === QUOTE ? skipString(json, at) : at + 1);
  }
  return values > max;
}
