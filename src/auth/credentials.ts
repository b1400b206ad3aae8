// What a client showed of itself, read from the request once and judged elsewhere. Header text is one character a
// byte here (latin-1), in both runtimes, and two lines of one name arrive as one value joined by ', ': such a value is
// taken whole, so it is the key of nobody (D-29).

import { Buffer } from 'node:buffer';
import { hashKey } from './api-key.ts';

export interface Credentials {
  /** Every value of the query parameter `rt`, decoded, in order. One is a token; more than one is refused (D-25). */
  readonly tokens: readonly string[];
  /** The `Authorization` value; undefined when the header was not sent, empty when it was sent empty. */
  readonly authorization: string | undefined;
  /** The `x-api-key` value, likewise. */
  readonly apiKey: string | undefined;
}

/**
 * `search` is the query as sent, with or without its `?`. It is decoded as WHATWG says, so `%72t` and a bare `rt`
 * count and `RT` does not (R-092, D-25).
 */
export function readCredentials(headers: Headers, search: string): Credentials {
  return {
    // Nearly every request is without one, and a parser for nothing is not free.
    tokens: search === '' ? [] : new URLSearchParams(search).getAll('rt'),
    authorization: headers.get('authorization') ?? undefined,
    apiKey: headers.get('x-api-key') ?? undefined,
  };
}

/**
 * The key in an `Authorization` value: what follows exactly `Bearer `, else the whole value, blanks around it dropped
 * (api.md §8.2). `bearer k` and `Basic k` are thus keys that nobody has.
 */
export function readBearer(value: string): string {
  const text = trimBlanks(value);
  return text.startsWith('Bearer ') ? trimBlanks(text.slice('Bearer '.length)) : text;
}

/** Every key shown, the one that decides who asks first: `Authorization` if it was sent, even empty (E1). */
export function shownKeys(credentials: Credentials): readonly string[] {
  const { authorization, apiKey } = credentials;
  const keys = authorization === undefined ? [] : [readBearer(authorization)];
  return apiKey === undefined ? keys : [...keys, trimBlanks(apiKey)];
}

/** The hash of a shown key's bytes on the wire; undefined for the empty key, whose hash anyone could have pushed. */
export function hashShownKey(key: string): string | undefined {
  return key === '' ? undefined : hashKey(Buffer.from(key, 'latin1'));
}

/** Spaces and tabs only, in linear time: U+00A0, which `trim()` takes too, can be the last byte of a UTF-8 key. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
