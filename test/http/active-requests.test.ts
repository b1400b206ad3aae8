import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ActiveRequests } from '../../src/http/active-requests.ts';

describe('ActiveRequests', () => {
  it('counts those that have begun and not ended', () => {
    const active = new ActiveRequests();
    assert.equal(active.count, 0);
    active.begin();
    active.begin();
    active.end();
    assert.equal(active.count, 1);
  });
});
