// JSON read into plain values and written again without a number having changed: `JSON.parse` rounds integers beyond
// 2^53 and turns 1e400 into Infinity, which would be written as null.

import { fault, ok, type Result } from './result.ts';

/** What the reviver is told of a value besides itself. */
interface SourceContext {
  readonly source?: string;
}

/** ECMA-262, "JSON.parse source text access": both runtimes have it, TypeScript's library does not yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
    parse(text: string, reviver: (name: string, value: unknown, context: SourceContext) => unknown): unknown;
  }
}

/**
 * One JSON document. A number that a double cannot hold stands as the object that `JSON.stringify` writes as it was
 * sent, so it is no number for a schema. The fault is for what is not JSON, or is nested too deep: whatever can be read
 * so can also be written, for the runtimes write several times as deep (at least 20,000 levels) as they read so.
 */
export function parseExactJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text, keepNumber));
  } catch {
    return fault('not JSON, or nested too deep'); // the only errors that the parser has; they quote the text
  }
}

function keepNumber(_name: string, value: unknown, { source }: SourceContext): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const isKept = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isKept ? value : JSON.rawJSON(source);
}
