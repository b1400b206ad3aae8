// Keys and policies that contradict each other cannot be brought about, from whichever side (api.md 9).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import { createTestRouter, pauseAtEachStep, type TestRouter } from '../support/test-router.ts';

const strict = (tokens: number, models = '[m]') =>
  `models: ${models}\nmode: serverless\nmax_input_tokens: ${tokens}\nrouting_policy: {strategy: least-loaded}`;
const key = (tokens: number, more: object = {}) => ({
  version: '2',
  id: 'k',
  key_hash: hashKey('sk-k'),
  owner: 'o',
  name: 'n',
  quota: { input_tokens_per_minute: tokens },
  ...more,
});

async function call(site: TestRouter, method: string, path: string, body?: unknown): Promise<string> {
  const response = await site.admin(method, path, body);
  return `${response.status} ${await response.text()}`;
}

const RULE = 'key "k": input_tokens_per_minute 99 must be at least max_input_tokens 100 of ';
const refused = (policy: string) => `400 ${JSON.stringify({ error: RULE + policy })}`;

describe('a key that contradicts a policy', () => {
  it('is refused alone, and taken where it can pass', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', '/admin/policy/models/large', strict(100));
    assert.equal(await call(site, 'PUT', '/admin/api-keys/k', key(99)), refused('policy "large"'));
    assert.match(await call(site, 'PUT', '/admin/api-keys/k', key(100)), /^200 /);
    assert.match(await call(site, 'PUT', '/admin/api-keys/k', key(99, { allowed_models: ['other'] })), /^200 /);
  });

  it('is refused before its version and its hash are looked at (api.md 10.3)', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', '/admin/policy', strict(100));
    assert.equal(await call(site, 'PUT', '/admin/api-keys/k', key(99, { version: '0' })), refused('the global policy'));
  });

  it('is refused among all keys, and nothing is replaced', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', '/admin/policy/models/large', strict(100));
    const document = { version: '2', keys: [key(99)] };
    assert.equal(await call(site, 'POST', '/admin/api-keys/replace', document), refused('policy "large"'));
    assert.equal(await call(site, 'GET', '/admin/api-keys/version'), '200 {"version":"1","count":4}');
  });
});

describe('a policy that contradicts a key', () => {
  it('is refused as the global one, as a document, and as what a deleted document leaves', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', '/admin/api-keys/k', key(99, { allowed_models: ['m'] }));
    assert.equal(await call(site, 'PUT', '/admin/policy', strict(100)), refused('the global policy'));
    assert.equal(await call(site, 'PUT', '/admin/policy/models/large', strict(100)), refused('policy "large"'));
    assert.match(await call(site, 'PUT', '/admin/policy/models/large', strict(100, '[other]')), /^200 /);
    assert.match(await call(site, 'PUT', '/admin/policy/models/small', strict(99)), /^200 /);
    assert.match(await call(site, 'PUT', '/admin/policy', strict(100)), /^200 /);
    assert.equal(await call(site, 'DELETE', '/admin/policy/models/small'), refused('the global policy'));
    assert.match(await call(site, 'GET', '/admin/policy/models/small'), /^200 /);
  });

  it('is judged by the keys that a push which is still read will bring', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const others = Array.from({ length: 9 }, (_, index) =>
      key(0, { id: `k${index}`, key_hash: hashKey(`sk-${index}`) }),
    );
    const pushed = call(site, 'POST', '/admin/api-keys/replace', { version: '2', keys: [...others, key(99)] });
    assert.equal(await call(site, 'PUT', '/admin/policy', strict(100)), refused('the global policy'));
    assert.match(await pushed, /^200 /);
  });
});
