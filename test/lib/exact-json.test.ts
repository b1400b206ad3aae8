import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../src/lib/exact-json.ts';

/** Read and written again. */
function rewritten(text: string): string {
  const parsed = parseExactJson(text);
  if (!parsed.ok) assert.fail(parsed.fault);
  return JSON.stringify(parsed.value);
}

describe('parseExactJson()', () => {
  it('keeps every number that a double cannot hold as it was written', () => {
    const kept = ['9007199254740992', '12345678901234567890', '-9007199254740993', '1e400', '-1E999', '1e300'];
    for (const number of kept) assert.equal(rewritten(`[${number}]`), `[${number}]`);
  });

  it('reads all others as the numbers they are', () => {
    for (const number of ['9007199254740991', '-9007199254740991', '0', '1.5', '1e3', '1e-400']) {
      assert.deepEqual(parseExactJson(number), { ok: true, value: Number(number) });
    }
  });

  it('reads any document as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.equal(rewritten(text), JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('keeps members with the names of prototypes', () => {
    const text = '{"__proto__":{"a":1},"constructor":2}';
    assert.equal(rewritten(text), text);
  });

  it('refuses what is not JSON, and quotes none of it', () => {
    for (const text of ['', 'canary', '{"canary"', '[1,]', '1 2', 'NaN']) {
      assert.deepEqual(parseExactJson(text), { ok: false, fault: 'not JSON, or nested too deep' });
    }
  });

  it('writes again whatever depth it reads', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(rewritten(nested(500)), nested(500));
    for (const depth of [1_000, 2_000, 4_000, 10_000, 100_000, 1_000_000]) {
      if (parseExactJson(nested(depth)).ok) assert.equal(rewritten(nested(depth)), nested(depth));
    }
    assert.ok(!parseExactJson(nested(1_000_000)).ok);
  });
});
