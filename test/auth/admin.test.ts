import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADMIN_KEYS_MAX, mayAdminister, parseAdminKeys } from '../../src/auth/admin.ts';
import { fault } from '../../src/lib/result.ts';

function listKeys(count: number): string {
  return Array.from({ length: count }, (_, index) => `key-${index}`).join(',');
}

describe('parseAdminKeys()', () => {
  const refused: readonly (readonly [text: string, rule: string])[] = [
    ['', 'holds no key'],
    [' ,\t, ', 'holds no key'],
    ['a,a', 'keys 1 and 2 are the same'],
    ['a,b,, a ', 'keys 1 and 3 are the same'],
    [listKeys(ADMIN_KEYS_MAX + 1), 'holds more than 100 keys'],
  ];
  for (const [text, rule] of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}: ${rule}`, () => {
      assert.deepEqual(parseAdminKeys(text), fault(rule));
    });
  }

  it('never tells a key', () => {
    const result = parseAdminKeys('sk-secret,sk-secret');
    assert.equal(JSON.stringify(result).includes('sk-secret'), false);
  });

  const accepted: readonly (readonly [text: string, keys: readonly string[]])[] = [
    ['a', ['a']],
    [' a , b,,', ['a', 'b']],
    ['a,A', ['a', 'A']],
    ['a b', ['a b']],
    [listKeys(ADMIN_KEYS_MAX), ['key-0', 'key-99']],
  ];
  for (const [text, keys] of accepted) {
    it(`takes ${JSON.stringify(text.slice(0, 20))}, blanks and empty keys dropped`, () => {
      const parsed = parseAdminKeys(text);
      assert.ok(parsed.ok);
      for (const key of keys) {
        assert.equal(parsed.value.matches({ tokens: [], authorization: `Bearer ${key}`, apiKey: undefined }), true);
      }
      assert.equal(parsed.value.matches({ tokens: [], authorization: 'Bearer ', apiKey: undefined }), false);
    });
  }
});

describe('mayAdminister()', () => {
  const parsed = parseAdminKeys('admin-1,clé');
  assert.ok(parsed.ok);
  const keyed = { mode: 'api-key', keys: parsed.value } as const;

  const cases: readonly (readonly [authorization: string | undefined, apiKey: string | undefined, may: boolean])[] = [
    ['Bearer admin-1', undefined, true],
    ['admin-1', undefined, true],
    ['Bearer cl\u00c3\u00a9', undefined, true],
    ['Bearer admin-1', 'wrong', true],
    [undefined, undefined, false],
    ['', undefined, false],
    ['Bearer wrong', undefined, false],
    ['bearer admin-1', undefined, false],
    ['Basic admin-1', undefined, false],
    ['Bearer ADMIN-1', undefined, false],
    ['Bearer admin-1,clé', undefined, false],
    ['Bearer admin-1, Bearer admin-1', undefined, false],
    [undefined, 'admin-1', false],
    ['Bearer wrong', 'admin-1', false],
  ];
  for (const [authorization, apiKey, may] of cases) {
    it(`${may ? 'admits' : 'refuses'} Authorization ${authorization} with x-api-key ${apiKey}`, () => {
      assert.equal(mayAdminister(keyed, { tokens: [], authorization, apiKey }), may);
    });
  }

  it('admits everyone in the insecure mode', () => {
    assert.equal(
      mayAdminister({ mode: 'insecure' }, { tokens: [], authorization: undefined, apiKey: undefined }),
      true,
    );
  });

  it('keeps no key that JSON would print', () => {
    assert.equal(JSON.stringify(keyed), '{"mode":"api-key","keys":{}}');
  });
});
