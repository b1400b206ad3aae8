// Keeps redirect tokens out of everything that is written down. One place for every sink, so that no sink can forget
// a spelling (D-70).

import { queryParts, splitTarget } from '../lib/query.ts';

const TOKEN_TEXT = /v2\.[A-Za-z0-9_-]{1,16}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g;

/**
 * A request target, path and query, with the value of every parameter whose decoded name is `rt` replaced; everything
 * else stays as sent.
 */
export function redactTarget(target: string): string {
  const { path, query } = splitTarget(target);
  if (query === '') return redactText(target);
  const parts = queryParts(query).map((part) => (part.name === 'rt' ? 'rt=REDACTED' : part.raw));
  return redactText(`${path}?${parts.join('&')}`);
}

/** The second net: anything that looks like a token, in any text. */
export function redactText(text: string): string {
  return text.includes('v2.') ? text.replace(TOKEN_TEXT, 'REDACTED') : text;
}
