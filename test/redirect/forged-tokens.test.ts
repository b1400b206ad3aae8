import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keyring } from './builders.ts';
import { tryForgeries } from './forged-tokens.ts';

describe('openToken() for 100,000 forged texts', () => {
  it('opens none, throws for none, and reads the claims of none (R-096, P-02, P-03)', { timeout: 60_000 }, () => {
    const { opened, claimsRead } = tryForgeries('forged', 100_000);
    assert.deepEqual([opened, claimsRead], [[], 0]);
  });

  it('would find out a keyring that knows the secret of the strangers', () => {
    const { opened, claimsRead } = tryForgeries('forged', 1_000, keyring('k1:another-secret-of-thirty-two-bytes'));
    assert.ok(opened.length > 0 && claimsRead > 0);
  });
});
