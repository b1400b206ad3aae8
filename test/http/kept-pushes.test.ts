// Whoever is told that a push was accepted can rely on it after a crash: what keeps pushes is done before the answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import type { KeptPushes } from '../../src/http/router-ports.ts';
import { createTestRouter, FIXTURE_MAP, type TestRouter } from '../support/test-router.ts';

/** A site whose disk is slow: `calls` are what it was given to write, and nothing is written before `write()`. */
function slowSite() {
  const calls: string[] = [];
  const pending: (() => void)[] = [];
  const keep = (what: string) => () => {
    calls.push(`${what} ${site.ports.auth.mode === 'dynamic' ? site.ports.auth.registry.version() : ''}`.trim());
    return new Promise<void>((resolve) => pending.push(resolve));
  };
  const kept: KeptPushes = {
    keysReplaced: keep('keys'),
    keyChanged: (id) => keep(`key ${id}`)(),
    mapReplaced: keep('map'),
  };
  const site = createTestRouter({ siteId: 'site-fr-1', state: { kept, restoredAtMs: undefined } });
  return { site, calls, write: () => pending.shift()?.() };
}

/** Within so many turns of the event loop. */
async function untilCalled(calls: readonly string[]): Promise<void> {
  for (let turn = 0; calls.length === 0; turn += 1) {
    assert.ok(turn < 1_000, 'nothing was given to be written');
    await new Promise((resolve) => setTimeout(resolve));
  }
}

const FIELDS = { key_hash: hashKey('sk-a'), owner: 'o', name: 'n', enabled: true };

const ACCEPTED: readonly (readonly [what: string, call: string, send: (site: TestRouter) => Promise<Response>])[] = [
  ['all keys', 'keys 2', (site) => site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] })],
  ['one key', 'key a 2', (site) => site.admin('PUT', '/admin/api-keys/a', { version: '2', ...FIELDS })],
  ['the end of a key', 'key key-1 2', (site) => site.admin('DELETE', '/admin/api-keys/key-1?version=2')],
  ['a map', 'map 1', (site) => site.admin('POST', '/admin/sibling-map', FIXTURE_MAP)],
];

describe('A push that is accepted', () => {
  for (const [what, call, send] of ACCEPTED) {
    it(`is kept before it is answered: ${what}`, async () => {
      const { site, calls, write } = slowSite();
      let isAnswered = false;
      const answer = send(site).finally(() => {
        isAnswered = true;
      });
      await untilCalled(calls);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve));
      assert.deepEqual([calls, isAnswered], [[call], false]);
      write();
      assert.equal((await answer).status, 200);
    });
  }

  it('is in force while it is being kept', async () => {
    const { site, calls, write } = slowSite();
    const answer = site.admin('PUT', '/admin/api-keys/a', { version: '2', ...FIELDS });
    await untilCalled(calls);
    assert.equal((await site.send('/v1/models', { headers: { authorization: 'Bearer sk-a' } })).status, 200);
    write();
    await answer;
  });
});

describe('A push that is refused', () => {
  for (const [what, status, send] of [
    ['broken keys', 400, (site) => site.admin('POST', '/admin/api-keys/replace', { version: '' })],
    ['older keys', 400, (site) => site.admin('POST', '/admin/api-keys/replace', { version: '0' })],
    ['a broken key', 400, (site) => site.admin('PUT', '/admin/api-keys/a', { version: '2' })],
    ['an older key', 409, (site) => site.admin('PUT', '/admin/api-keys/a', { version: '0', ...FIELDS })],
    ['an older end of a key', 409, (site) => site.admin('DELETE', '/admin/api-keys/key-1?version=0')],
    ['a broken map', 400, (site) => site.admin('POST', '/admin/sibling-map', {})],
  ] as const satisfies readonly (readonly [string, number, (site: TestRouter) => Promise<Response>])[]) {
    it(`is not kept: ${what}`, async () => {
      const { site, calls } = slowSite();
      assert.equal((await send(site)).status, status);
      assert.deepEqual(calls, []);
    });
  }

  it('is not kept: an older map', async () => {
    const { site, calls, write } = slowSite();
    const first = site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 2 });
    await untilCalled(calls);
    write();
    await first;
    assert.equal((await site.admin('POST', '/admin/sibling-map', FIXTURE_MAP)).status, 409);
    assert.equal(calls.length, 1);
  });
});
