import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ActiveRequests } from '../../src/http/active-requests.ts';

describe('ActiveRequests', () => {
  it('counts those that have begun and not ended', () => {
    const active = new ActiveRequests();
    active.begin();
    active.begin();
    active.end();
    assert.equal(active.count, 1);
  });

  it('has none at once when none runs, else with the end of the last one', async () => {
    const active = new ActiveRequests();
    await active.whenNone();
    active.begin();
    active.begin();
    const ends: string[] = [];
    const none = active.whenNone().then(() => ends.push('none'));
    for (const name of ['first', 'second']) {
      await Promise.resolve();
      ends.push(name);
      active.end();
    }
    await none;
    assert.deepEqual(ends, ['first', 'second', 'none']);
  });
});
