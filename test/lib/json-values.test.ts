import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holdsMoreValues } from '../../src/lib/json-values.ts';

/** Of a value and all within it. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1);
}

function assertCount(text: string, count: number): void {
  const json = Buffer.from(text);
  assert.equal(holdsMoreValues(json, count), false, text);
  assert.equal(holdsMoreValues(json, count - 1), true, text);
}

describe('holdsMoreValues()', () => {
  it('counts the document, its items and its members, and nothing that stands in strings', () => {
    for (const [text, count] of [
      ['1', 1],
      [' [ ] ', 1],
      ['{}', 1],
      ['[[], {} ]', 3],
      ['{"a":1,"b":[2,3]}', 5],
      ['"a,[{\\",\\\\"', 1],
      ['["\\\\",","]', 3],
    ] as const) {
      assertCount(text, count);
    }
  });

  it('counts as one who has built the document', () =>
    fc.assert(fc.property(fc.json({ depthSize: 'medium' }), (text) => assertCount(text, valuesIn(JSON.parse(text))))));

  it('ends on what is no JSON', () => {
    for (const text of ['', '"', '[', '"\\', '{"a', ',,,']) assert.equal(holdsMoreValues(Buffer.from(text), 9), false);
  });
});
