// What one setting of the router is, and how its complaints read. Apart from the table, so that whoever reads a setting
// needs no list of all of them.

import type { Result } from '../lib/result.ts';

/** Where a value came from. A flag beats a variable, a variable beats the default. */
export type Origin = 'flag' | 'variable';

/** Headings of `--help`, in its order. */
export const GROUPS = [
  'Listening',
  'Clients',
  'Administration',
  'Engines',
  'Routing',
  'Providers',
  'Cross-site redirect',
  'Hold at zero',
  'Time limits',
  'Shutdown',
  'Quotas',
] as const;

type Group = (typeof GROUPS)[number];

export interface Setting<Value> {
  readonly group: Group;
  /** With its dashes. Undefined where a command line is no place for the value, or the Go router has no flag either. */
  readonly flag?: `--${string}`;
  readonly variable: `HIVENET_ROUTER_${string}`;
  /** What `--help` calls the value: `ADDRESS`. */
  readonly argument: string;
  /** As a user would write it. Undefined: the setting may be left out. */
  readonly fallback?: string;
  /** The fault is the rule that the text breaks; it never repeats the text. */
  readonly parse: (text: string, origin: Origin) => Result<Value, string>;
  /** A value that works, as a shell would take it. */
  readonly example: string;
  /** The same for the variable, where it holds something else than the flag. */
  readonly variableExample?: string;
  /** One sentence without its full stop; Markdown code marks allowed. */
  readonly help: string;
  /** The value must stand in no message. */
  readonly isSecret?: true;
  /** The flag may be repeated, and the variable separates by blanks. */
  readonly isRepeatable?: true;
}

/** What messages need to know of a setting. */
export type NamedSetting = Pick<Setting<unknown>, 'flag' | 'variable'>;

/** Both names, for every message: `--http-port (HIVENET_ROUTER_HTTP_PORT)`. */
export function nameOf({ flag, variable }: NamedSetting): string {
  return flag === undefined ? variable : `${flag} (${variable})`;
}

/** An example in the words that the operator used, or would use first. */
export function exampleOf(setting: Setting<unknown>, origin: Origin): string {
  if (setting.flag !== undefined && origin === 'flag') return `${setting.flag} ${setting.example}`;
  return `${setting.variable}=${setting.variableExample ?? setting.example}`;
}

/** Characters of a value that a message shows. */
const SHOWN_MAX = 80;

/**
 * A value for a message: in quotes, on one line, shortened, and without what may be the credentials of a URL, which
 * belong in no log even when the URL is refused for having them.
 */
export function quote(text: string): string {
  const open = text.replace(/^([^=]*=)?.*@/s, '$1(hidden)@');
  const short = open.length > SHOWN_MAX ? `${open.slice(0, SHOWN_MAX)}…` : open;
  return JSON.stringify(short.toWellFormed()).replace(/[\u007f-\u009f\u2028\u2029]/g, '?');
}

/** Text that was put where the path of a file belongs: PEM, an `id:secret`, or a long word that no file is called. */
const CONTENTS = /[\r\n]|^-----BEGIN|^[A-Za-z0-9_-]{1,16}:|^[^/.]{32,}$/;

/** A path for a message, or undefined when it looks like the secret that the file should have held. */
export function quotePath(path: string): string | undefined {
  return CONTENTS.test(path) ? undefined : quote(path);
}
