// Answers of real engines, restated: each file names engine, version and source in its first line, then the request and
// the status, and after a blank line holds the body.

import { readFileSync } from 'node:fs';

export interface Fixture {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** The fixture `ENGINE/NAME`. */
export function fixture(name: string): Fixture {
  const text = readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), 'utf8');
  const [source, ask, blank] = text.split('\n', 3);
  const [, method, path, status] = /^([A-Z]+) (\/\S*) (\d{3})$/.exec(ask ?? '') ?? [];
  if (method === undefined || path === undefined || blank !== '') throw new Error(`Fixture "${name}" has no head`);
  return { method, path, status: Number(status), body: text.slice(`${source}\n${ask}\n\n`.length) };
}

/** The fixture as an engine would send it. */
export function responseOf({ body, status }: Fixture): Response {
  return new Response(body, { status });
}
