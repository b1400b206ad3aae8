// Keeps redirect tokens out of everything that is written down. One place for every sink, so that no sink can forget
// a spelling (D-70).

import { queryParts, splitTarget } from '../lib/query.ts';

const ESCAPE = /%([0-9A-Fa-f]{2})/g;
const TOKEN_TEXT = /v2\.[A-Za-z0-9_-]{1,16}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g;

/**
 * A request target, path and query, with the value of every parameter whose decoded name is `rt` replaced, and whatever
 * looks like a token in another part, escaped or not; everything else stays as sent.
 */
export function redactTarget(target: string): string {
  const { path, query } = splitTarget(target);
  if (query === '') return redactPath(target);
  const parts = queryParts(query).map(({ name, raw }) => (name === 'rt' ? 'rt=REDACTED' : redactPart(raw)));
  return redactText(`${redactPath(path)}?${parts.join('&')}`);
}

function redactPath(path: string): string {
  // Nearly every path, of nearly every line of the access log.
  if (!path.includes('%')) return redactText(path);
  return redactText(path.split('/').map(redactEscaped).join('/'));
}

/** Its name stays, unless that holds the token. */
function redactPart(raw: string): string {
  const [name = ''] = raw.split('=', 1);
  return redactEscaped(name) + (name === raw ? '' : `=${redactEscaped(raw.slice(name.length + 1))}`);
}

/** All of `text` goes when it decodes to something with a token in it: nothing else would be readable in it. */
function redactEscaped(text: string): string {
  if (!text.includes('%')) return text;
  const decoded = text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return redactText(decoded) === decoded ? text : 'REDACTED';
}

/** The second net: anything that looks like a token, in any text. */
export function redactText(text: string): string {
  return text.includes('v2.') ? text.replace(TOKEN_TEXT, 'REDACTED') : text;
}
