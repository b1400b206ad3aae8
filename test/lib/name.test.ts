import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isName, NAME_MAX_BYTES } from '../../src/lib/name.ts';

describe('isName()', () => {
  it('takes text of 1 to 256 bytes', () => {
    for (const name of ['a', 'org/模型:1', ' ', 'é'.repeat(NAME_MAX_BYTES / 2)]) assert.equal(isName(name), true, name);
    for (const name of ['', 'a'.repeat(NAME_MAX_BYTES + 1), `a${'é'.repeat(NAME_MAX_BYTES / 2)}`])
      assert.equal(isName(name), false, name);
  });

  it('takes no control characters and no lone surrogates', () => {
    for (const name of ['a\nb', '\u0000', 'a\u007f', '\u0085', '\ud800']) assert.equal(isName(name), false, name);
  });
});
