import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UNKNOWN_TOLD_MAX, UnknownKeyFields } from '../../src/auth/unknown-fields.ts';

function namesIn(...entries: readonly unknown[]): readonly string[] {
  const unknown = new UnknownKeyFields();
  for (const entry of entries) unknown.add(entry);
  return unknown.names;
}

const KNOWN = {
  id: 'a',
  key_hash: 'h',
  key_preview: 'p',
  owner: 'o',
  name: 'n',
  enabled: true,
  expires_at: null,
  allowed_models: ['m'],
  max_occupancy_share: 0,
  quota: {
    requests_per_minute: 1,
    tokens_per_day: 1,
    input_tokens_per_minute: 1,
    output_tokens_per_minute: 1,
    per_model: { constructor: { requests_per_minute_per_replica: 1, tokens_per_day: 1 } },
  },
};

describe('UnknownKeyFields', () => {
  it('finds nothing in a key that has all fields', () => {
    assert.deepEqual(namesIn(KNOWN, { ...KNOWN, quota: null }), []);
  });

  it('names what nothing reads, in the quota and in limits of a model too, each once', () => {
    const perModel = { m: { tokens_per_day: 1, rpm: 2 } };
    const slip = { ...KNOWN, expiry: 'x', quota: { request_per_minute: 5, per_model: perModel } };
    assert.deepEqual(namesIn(KNOWN, slip, slip), ['quota.request_per_minute', 'quota.per_model.m.rpm', 'expiry']);
  });

  it('does not name what may be a key', () => {
    const slip = { ...KNOWN, 'sk-Secret1': 1, quota: { 'sk-Secret2': 1 } };
    assert.deepEqual(namesIn(slip), ['quota.…', '…']);
  });

  it('names so many, and no more', () => {
    const letters = [...'abcdefghijklm'];
    const entries = letters.map((letter) => ({ ...KNOWN, [`field_${letter}`]: 1 }));
    assert.equal(namesIn(...entries.slice(0, UNKNOWN_TOLD_MAX)).length, UNKNOWN_TOLD_MAX);
    assert.equal(namesIn(...entries).length, UNKNOWN_TOLD_MAX);
    assert.equal(namesIn(Object.assign({}, ...entries)).length, UNKNOWN_TOLD_MAX);
  });
});
