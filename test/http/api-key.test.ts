// The admin API of single keys (api.md 10.3). What makes an entry valid is tested in test/auth.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import { KEY_MAX_BYTES } from '../../src/auth/key-document.ts';
import { KEYS } from '../support/test-keys.ts';
import { bearer, createTestRouter, pauseAtEachStep, type TestRouter } from '../support/test-router.ts';

const ONE = '/admin/api-keys/key-new';
const STALE = '409 {"error":"stale version","current_version":"1"}';

function entry(secret: string, more: object = {}): Record<string, unknown> {
  return { version: '2', key_hash: hashKey(secret), owner: 'o', name: 'n', enabled: true, ...more };
}

async function call(site: TestRouter, method: string, path: string, body?: unknown): Promise<string> {
  const response = await site.admin(method, path, body);
  return `${response.status} ${await response.text()}`;
}

async function admits(site: TestRouter, secret: string): Promise<boolean> {
  return (await site.send('/v1/models', { headers: { authorization: `Bearer ${secret}` } })).status === 200;
}

const version = (site: TestRouter) => call(site, 'GET', '/admin/api-keys/version');

describe('PUT /admin/api-keys/{id}', () => {
  it('adds a key that opens at once, under the ID of the path, and counts its version (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.equal(await call(site, 'PUT', ONE, entry('sk-new', { id: 'other' })), '200 {"ok":true}');
    assert.equal(await admits(site, 'sk-new'), true);
    assert.equal(await admits(site, KEYS['key-1']), true);
    assert.equal(await version(site), '200 {"version":"2","count":5}');
    const shown = { id: 'key-new', key_hash: '', key_preview: '', owner: 'o', name: 'n', enabled: true };
    assert.equal(await call(site, 'GET', ONE), `200 ${JSON.stringify({ key: shown })}`);
  });

  it('replaces the whole entry: the old hash opens nothing any more, and what is left out is unset', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', ONE, entry('sk-new', { allowed_models: ['m'] }));
    assert.equal(await call(site, 'PUT', ONE, entry('sk-newer')), '200 {"ok":true}');
    assert.deepEqual([await admits(site, 'sk-new'), await admits(site, 'sk-newer')], [false, true]);
    assert.doesNotMatch(await call(site, 'GET', ONE), /allowed_models/);
    const { enabled, ...silent } = entry('sk-newer');
    assert.equal(enabled, true);
    await call(site, 'PUT', ONE, silent);
    assert.equal(await admits(site, 'sk-newer'), false);
  });

  it('takes an equal version and refuses a lower one, by bytes, telling the current one (api.md T18, T19)', async () => {
    const site = createTestRouter();
    assert.equal(await call(site, 'PUT', ONE, entry('sk-new', { version: '1' })), '200 {"ok":true}');
    assert.equal(await call(site, 'PUT', ONE, entry('sk-newer', { version: '0' })), STALE);
    assert.deepEqual([await admits(site, 'sk-new'), await admits(site, 'sk-newer')], [true, false]);
    await call(site, 'PUT', ONE, entry('sk-new', { version: '\u{1f600}' }));
    assert.match(await call(site, 'PUT', ONE, entry('sk-new', { version: '\uff5e' })), /^409 /);
  });

  it('refuses a hash that another key has with 400, after the version (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'PUT', ONE, entry(KEYS['key-1'])), /^400 \{"error":"key_hash: another key ID/);
    assert.equal(await call(site, 'PUT', ONE, entry(KEYS['key-1'], { version: '0' })), STALE);
    assert.equal(await version(site), '200 {"version":"1","count":4}');
  });

  for (const [what, body, rule] of [
    ['no JSON', '{', 'The request body is not valid JSON.'],
    ['no object', '[]', 'document: must be an object'],
    ['no version', entry('k', { version: undefined }), 'version: '],
    ['a bad hash', entry('k', { key_hash: 'x' }), 'key_hash: must be 64 hexadecimal characters'],
    ['a bad expiry', entry('k', { expires_at: 'soon' }), 'expires_at: '],
    ['both shapes of quota', entry('k', { quota: { requests_per_minute: 1, per_model: { m: {} } } }), 'quota'],
  ] as const) {
    it(`refuses ${what} with 400 and changes nothing`, async () => {
      const site = createTestRouter();
      assert.ok((await call(site, 'PUT', ONE, body)).startsWith(`400 {"error":"${rule}`));
      assert.equal(await version(site), '200 {"version":"1","count":4}');
    });
  }

  it('reads a body of 1 MiB, and refuses one more byte with 400 (api.md 2)', async () => {
    const site = createTestRouter();
    const sized = (bytes: number) => {
      const empty = JSON.stringify(entry('sk-new', { note: '' }));
      return JSON.stringify(entry('sk-new', { note: 'x'.repeat(bytes - empty.length) }));
    };
    assert.equal(await call(site, 'PUT', ONE, sized(KEY_MAX_BYTES)), '200 {"ok":true}');
    assert.match(await call(site, 'PUT', ONE, sized(KEY_MAX_BYTES + 1)), /^400 \{"error":"/);
  });

  it('waits for what was pushed before it (api.md 10.2)', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const keys = Array.from({ length: 20 }, (_, index) => entry(`sk-${index}`, { id: `key-${index}` }));
    const replaced = call(site, 'POST', '/admin/api-keys/replace', { version: '3', keys });
    assert.match(await call(site, 'PUT', ONE, entry('sk-new')), /^409 .*"current_version":"3"/);
    assert.match(await replaced, /^200 /);
  });

  it('makes the router ready that had no key (A15)', async () => {
    const site = createTestRouter({ isWithoutKeys: true });
    assert.equal((await site.send('/health/ready')).status, 503);
    await call(site, 'PUT', ONE, entry('sk-new'));
    assert.equal((await site.send('/health/ready')).status, 200);
  });
});

describe('DELETE /admin/api-keys/{id}', () => {
  it('takes the key out at once, and counts the version also when there was none (api.md 10.2)', async () => {
    const site = createTestRouter();
    assert.equal(await call(site, 'DELETE', '/admin/api-keys/key-1?version=2'), '200 {"ok":true}');
    assert.equal(await admits(site, KEYS['key-1']), false);
    assert.equal(await call(site, 'DELETE', '/admin/api-keys/nobody?version=3'), '200 {"ok":true}');
    assert.equal(await version(site), '200 {"version":"3","count":3}');
  });

  it('wants a version and an ID, and refuses a lower version (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'DELETE', '/admin/api-keys/key-1'), /^400 \{"error":"version: must be in the query/);
    assert.match(await call(site, 'DELETE', `/admin/api-keys/key-1?version=${'v'.repeat(257)}`), /^400 /);
    assert.match(await call(site, 'DELETE', '/admin/api-keys/%20?version=2'), /^400 \{"error":"id: must not be blank/);
    assert.equal(await call(site, 'DELETE', '/admin/api-keys/key-1?version=0'), STALE);
    assert.equal(await admits(site, KEYS['key-1']), true);
  });
});

describe('GET /admin/api-keys/{id}', () => {
  it('shows one key, 404 for an unknown and 400 for a blank ID', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'GET', '/admin/api-keys/key-dis'), /^200 \{"key":\{"id":"key-dis","key_hash":"",/);
    assert.match(await call(site, 'GET', '/admin/api-keys/nobody'), /^404 \{"error":"/);
    assert.match(await call(site, 'GET', '/admin/api-keys/%20'), /^400 \{"error":"id: /);
  });

  it('cannot show a key of the ID "version", which can be put and deleted (api.md 2)', async () => {
    const site = createTestRouter();
    assert.equal(await call(site, 'PUT', '/admin/api-keys/version', entry('sk-new')), '200 {"ok":true}');
    assert.equal(await version(site), '200 {"version":"2","count":5}');
    assert.equal(await call(site, 'DELETE', '/admin/api-keys/version?version=2'), '200 {"ok":true}');
    assert.equal(await version(site), '200 {"version":"2","count":4}');
  });

  it('finds an ID with a slash, percent-encoded', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', '/admin/api-keys/team%2Fa', entry('sk-new'));
    assert.match(await call(site, 'GET', '/admin/api-keys/team%2Fa'), /^200 \{"key":\{"id":"team\/a"/);
  });
});

describe('/admin/api-keys/{id}', () => {
  it('is 501 where keys are not pushed, before anything is read (api.md 10.3)', async () => {
    const site = createTestRouter({ authMode: 'none' });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const inactive = '501 {"error":"dynamic key registry not active"}';
      assert.equal(await call(site, method, ONE, method === 'PUT' ? '{' : undefined), inactive);
    }
  });

  it('opens for admin keys alone', async () => {
    const site = createTestRouter();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      assert.equal((await site.send(ONE, { method, headers: bearer('key-1') })).status, 401);
    }
  });

  it('writes no hash and no rejected value into the log', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', ONE, entry('sk-new'));
    await call(site, 'PUT', ONE, entry('sk-new', { key_hash: 'CANARY', owner: 7 }));
    await call(site, 'DELETE', `${ONE}?version=2`);
    const written = site.written.join('');
    assert.match(written, /Put API key id="key-new" version="2"/);
    assert.match(written, /Deleted API key id="key-new" version="2" was_there=true/);
    assert.ok(!written.includes(hashKey('sk-new')) && !written.includes('CANARY'));
  });
});
