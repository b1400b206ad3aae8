// The values of the two providers of chat completions: a key, and where to show it.

import { fault, ok, type Result } from '../lib/result.ts';
import { parsePath } from './parse-value.ts';
import type { Origin } from './setting.ts';

/** Characters of a key; a header must hold it. */
const KEY_MAX = 1024;

/** The flag names a file that is still to be read; the variable holds the key itself. */
type KeySetting = { readonly file: string } | { readonly key: string };

/** The fault never repeats the text. */
export function parseProviderKey(text: string, origin: Origin): Result<KeySetting, string> {
  if (origin === 'flag') {
    const path = parsePath(text);
    return path.ok ? ok({ file: path.value }) : path;
  }
  const key = parseKeyText(text);
  return key.ok ? ok({ key: key.value }) : key;
}

/** One key, with the line feed that editors leave behind it. */
export function parseKeyText(text: string): Result<string, string> {
  const key = text.trim();
  const isHeader = key.length <= KEY_MAX && /^[!-~]+$/.test(key);
  return isHeader ? ok(key) : fault(`not one key of 1 to ${KEY_MAX} visible ASCII characters`);
}

const LOOPBACK = /^(localhost|127(\.[0-9]+){3}|\[::1\])$/;

/** A base URL without slashes at its end. A key must not cross a network in the clear. */
export function parseProviderUrl(text: string): Result<string, string> {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return fault('must start with https://');
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) return fault('http is for a loopback address only');
  if (url.username !== '' || url.password !== '') return fault('must hold no user name or password');
  if (/[?#]/.test(text)) return fault('must hold no query or fragment: the path of the request is appended');
  return ok(url.href.replace(/\/+$/, ''));
}
