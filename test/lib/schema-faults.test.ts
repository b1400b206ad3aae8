import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as v from 'valibot';
import { describeBroken, locate, REQUIRED, toBroken, toPlain } from '../../src/lib/schema-faults.ts';
import { parseStrictYaml } from '../../src/lib/strict-yaml.ts';

function documentOf(text: string) {
  const document = parseStrictYaml(text, { depth: 9 });
  assert.ok(document.ok);
  return document.value;
}

describe('toPlain()', () => {
  it('gives what JSON.parse would, odd names too', () => {
    const json = '{"a": [1, -2.5e3, true, null, "x"], "__proto__": {"constructor": {}}, "": []}';
    assert.deepEqual(toPlain(documentOf(json).value), JSON.parse(json));
  });

  it('throws for a shaped item, which has no plain value', () => {
    assert.throws(() => toPlain({ kind: 'array', items: [{ kind: 'shaped' }] }), /shaped/);
  });
});

describe('describeBroken()', () => {
  const cases = [
    { path: [], told: 'document: r' },
    { path: ['a', 0, 'b_c', 12], told: 'a[0].b_c[12]: r' },
    { path: ['a', 'org/m'], told: 'a."org/m": r' },
    { path: ['x'.repeat(64)], told: `${'x'.repeat(64)}: r` },
    { path: ['x'.repeat(65)], told: `"${'x'.repeat(64)}": r` },
    { path: ['\ud800\n'], told: '"\ufffd\\n": r' },
  ];
  for (const { path, told } of cases) {
    it(`tells ${JSON.stringify(path).slice(0, 40)} as ${told.slice(0, 40)}`, () => {
      assert.equal(describeBroken({ path, rule: 'r' }), told);
    });
  }
});

describe('locate()', () => {
  it('points at what is wrong, and for what is missing at where it should be', () => {
    const document = documentOf('a:\n  - {b: 1}\n');
    const schema = v.object({
      a: v.array(v.object({ b: v.string('must be text'), c: v.string('must be text') }, REQUIRED)),
    });
    const parsed = v.safeParse(schema, toPlain(document.value));
    assert.ok(!parsed.success);
    assert.deepEqual(
      parsed.issues.map((issue) => locate(document, toBroken(issue))),
      ['line 2, column 6: a[0].b: must be text', 'line 2, column 5: a[0].c: is required'],
    );
  });
});
