// Between a strict document and a valibot schema: the document as plain values, and what the schema finds wrong as paths
// and rules that its author can follow. A value is never told.

import type { BaseIssue } from 'valibot';
import type { JsonValue } from './strict-json.ts';
import type { Path, YamlDocument } from './strict-yaml.ts';

/** The rule that a missing member breaks. */
export const REQUIRED = 'is required';

/** One broken rule, and where; never a value. */
export interface Broken {
  readonly path: Path;
  readonly rule: string;
}

/** As `JSON.parse` would give it; a number beyond 2^53 is rounded. */
export function toPlain(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries([...value.members].map(([name, member]) => [name, toPlain(member)]));
    case 'array':
      return value.items.map(toPlain);
    case 'number':
      return Number(value.lexeme);
    case 'null':
      return null;
    case 'string':
    case 'boolean':
      return value.value;
    case 'shaped':
      throw new Error('Cannot give a shaped item as a plain value');
  }
}

/** Path and rule of an issue. The schema's messages must hold no value, as valibot's own do. */
export function toBroken(issue: BaseIssue<unknown>): Broken {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)));
  return { path, rule: issue.message };
}

/** `agents[0].backend_url: <rule>` */
export function describeBroken({ path, rule }: Broken): string {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${fieldName(step)}`)).join('');
  return `${name === '' ? 'document' : name.replace(/^\./, '')}: ${rule}`;
}

/** `line 3, column 18: agents[0].backend_url: <rule>`; what is missing is told where it should be. */
export function locate({ positionOf }: YamlDocument, broken: Broken): string {
  const { line, column } = positionOf(broken.rule === REQUIRED ? broken.path.slice(0, -1) : broken.path);
  return `line ${line}, column ${column}: ${describeBroken(broken)}`;
}

/** An unknown field may be called anything. */
function fieldName(name: string): string {
  return /^[a-z_]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64).toWellFormed());
}
