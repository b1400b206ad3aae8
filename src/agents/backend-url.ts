// The address of an engine as an operator writes it: the same rules on the command line, in a file and in a push.

import { fault, ok, type Result } from '../lib/result.ts';

const URL_MAX = 2048;

/** The URL, to which request paths are appended. The fault is the broken rule, without the value: it may hold a password. */
export function parseBackendUrl(text: string): Result<URL, string> {
  if (text.length > URL_MAX) return fault(`URL must be at most ${URL_MAX} characters`);
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return fault('URL must start with http:// or https://');
  if (url.username !== '' || url.password !== '') return fault('URL must hold no user name or password');
  if (text.includes('?')) return fault('URL must hold no query: the request path is appended to it');
  if (text.includes('#')) return fault('URL must hold no fragment: the request path is appended to it');
  return ok(url);
}

/** Without the slash that the request path begins with. */
export function formatBackendUrl(url: URL): string {
  return url.href.replace(/\/+$/, '');
}
