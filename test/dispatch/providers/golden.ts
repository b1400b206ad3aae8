// The golden files: what goes in and what must come out, written by hand from the two APIs' references.

import { readFileSync } from 'node:fs';
import { findMembers } from '../../../src/lib/json-members.ts';
import { encodeUtf8 } from '../../../src/lib/utf8.ts';

export interface GoldenCase {
  readonly name: string;
  readonly in: unknown;
  readonly out: unknown;
}

export interface GoldenStream {
  readonly name: string;
  /** The data of each event; text stands for itself. */
  readonly in: readonly unknown[];
  readonly out: readonly unknown[];
  readonly includeUsage?: boolean;
}

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`golden/${file}.json`, import.meta.url), 'utf8'));

export const goldenCases = (file: string) => read(file) as readonly GoldenCase[];
export const goldenStreams = (file: string) => read(file) as readonly GoldenStream[];

/** When every answer of the golden files was made. */
export const NOW_MS = 1_700_000_000_999;

/** The events of one dialect's stream as its provider writes them. */
export function eventStream(dialect: 'openai' | 'anthropic', events: readonly unknown[]): string {
  return events.map((event) => eventText(dialect, event)).join('');
}

export function eventText(dialect: 'openai' | 'anthropic', event: unknown): string {
  const data = typeof event === 'string' ? event : JSON.stringify(event);
  const { type } = event as { readonly type?: string };
  return `${dialect === 'anthropic' ? `event: ${type}\n` : ''}data: ${data}\n\n`;
}

/** A request's bytes, and where its model stands. */
export function modelBody(text: string) {
  const body = encodeUtf8(text);
  const [modelAt = { start: 0, end: 0 }] = findMembers(body, 'model');
  return { body, modelAt };
}

/** A document as it arrives: without what is undefined. */
export const onWire = (document: unknown): unknown => JSON.parse(JSON.stringify(document));
