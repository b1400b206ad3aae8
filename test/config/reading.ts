// Reads settings in tests: arguments, variables and files as plain data, and the answer as what the test asks about.

import assert from 'node:assert/strict';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { SettingsFile } from '../../src/config/settings-reader.ts';
import { fault, ok } from '../../src/lib/result.ts';

export interface Given {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, SettingsFile>>;
}

/** What a router needs to start at all, so that a test says only what it is about. */
export const ADMIN = { HIVENET_ROUTER_ADMIN_API_KEYS: 'an-admin-key-of-the-tests' };

/** A sound setting of cross-site redirect by variables. */
export const REDIRECT = {
  HIVENET_ROUTER_SITE_ID: 'site-fr-1',
  HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}`,
  HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS: '.example.com',
};

export function read({ args = [], env = {}, files = {} }: Given): ReturnType<typeof readConfig> {
  const readFile = (path: string) => {
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    return file === undefined ? fault('no such file') : ok(file);
  };
  const listDirectory = (path: string) => {
    const folder = path.endsWith('/') ? path : `${path}/`;
    const names = Object.keys(files).flatMap((file) => (file.startsWith(folder) ? [file.slice(folder.length)] : []));
    return names.length === 0 ? fault('no such file') : ok(names.toSorted());
  };
  return readConfig({ args, env: { ...ADMIN, ...env }, readFile, listDirectory });
}

/** The configuration of settings that must be sound. */
export function configOf(given: Given): Config {
  return soundOf(given).config;
}

/** The warnings of settings that must be sound. */
export function warningsOf(given: Given): readonly string[] {
  return soundOf(given).warnings;
}

/** The errors; none when the settings are sound. */
export function errorsOf(given: Given): readonly string[] {
  const reading = read(given);
  return reading.ok ? [] : reading.fault;
}

function soundOf(given: Given): { readonly config: Config; readonly warnings: readonly string[] } {
  const reading = read(given);
  if (!reading.ok) assert.fail(reading.fault.join('\n'));
  return reading.value;
}

/** Asserts as many lines as there are starts, each with its own, in order. */
export function assertLines(lines: readonly string[], ...starts: readonly string[]): void {
  assert.equal(lines.length, starts.length, lines.join('\n'));
  for (const [index, start] of starts.entries()) {
    const line = lines[index] ?? '';
    assert.ok(line.startsWith(start), line);
  }
}
