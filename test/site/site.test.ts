import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSiteId } from '../../src/site/site.ts';

describe('parseSiteId()', () => {
  for (const id of ['a', 'site-fr-1', 'A.b_C-9', '-', '..', '__proto__', 'x'.repeat(64)]) {
    it(`takes "${id}" as it is (D-52)`, () => assert.equal(parseSiteId(id), id));
  }
  for (const text of ['', 'x'.repeat(65), 'a b', 'a/b', 'é', 'a\n', 'a:b', 'a\u0000', 'site—1']) {
    it(`refuses ${JSON.stringify(text)} (R-142, R-183)`, () => assert.equal(parseSiteId(text), undefined));
  }
});
