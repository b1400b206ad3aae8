// A broken rule of a document that a person wrote, told so that its author finds the place: where, which value, which rule.

import type { JsonValue } from './strict-json.ts';
import type { Path } from './strict-yaml.ts';

export interface DocumentFault {
  /** Names and indexes down to what is wrong; empty for the document as a whole. */
  readonly path: Path;
  /** What breaks the rule; undefined where the path says it. */
  readonly value?: JsonValue;
  readonly rule: string;
}

/** Characters of a value that a message shows. */
const SHOWN_MAX = 80;

/** `PATH VALUE: RULE`, without what is empty. */
export function describeFault(path: string, { value, rule }: DocumentFault): string {
  const shown = value === undefined ? '' : showValue(value);
  const subject = [path, shown].filter((word) => word !== '').join(' ');
  return subject === '' ? rule : `${subject}: ${rule}`;
}

function showValue(value: JsonValue): string {
  switch (value.kind) {
    case 'string':
      return quoteText(value.value);
    case 'number':
      return value.lexeme.slice(0, SHOWN_MAX);
    case 'boolean':
      return String(value.value);
    case 'null':
      return 'null';
    case 'array':
      return '[…]';
    case 'object':
    case 'shaped':
      return '{…}';
  }
}

/** In quotes, on one line, at most 80 characters of it. */
export function quoteText(text: string): string {
  const short = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return JSON.stringify(short.toWellFormed()).replace(/[\u007f-\u009f\u2028\u2029]/g, '?');
}
