// Which of the sites in scope a request is sent to, as far as a client can steer it: by its key and its session.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { FIXTURE_MAP, placement } from '../support/test-router.ts';
import vectors from '../vectors/home-set.json' with { type: 'json' };
import { CHAT, CHAT_BODY, claimsOf, follow, siteA, siteB, siteId, tokenForB } from './redirect-fixture.ts';

describe('the home sites of a key', () => {
  it('go by the ID of the caller’s key: keys spread over the sites (R-039, R-042)', async () => {
    const extraKeys = Array.from({ length: 16 }, (_, index) => ({ id: `k-${index}`, secret: `sk-${index}` }));
    const site = siteA({ extraKeys });
    const targets = new Map<string, string>();
    for (const { id, secret } of extraKeys) {
      const headers = { authorization: `Bearer ${secret}`, 'x-hivenet-scope': 'all' };
      const { keyId, target } = claimsOf(await site.ask(CHAT, CHAT_BODY, headers));
      assert.equal(keyId, id);
      targets.set(id, target);
    }
    assert.equal(new Set(targets.values()).size, 3);
  });

  it('do not go by the owner of the key, its secret, its name or what else it may use (R-040)', async () => {
    const targetsOf = async (fields: object) => {
      const key = { id: 'key-x', secret: 'sk-x', ...fields };
      const site = siteA({ extraKeys: [key] });
      const sessions = Array.from({ length: 16 }, async (_, index) => {
        const headers = {
          authorization: `Bearer ${key.secret}`,
          'x-hivenet-scope': 'all',
          'x-session-id': `s-${index}`,
        };
        return claimsOf(await site.ask(CHAT, CHAT_BODY, headers)).target;
      });
      return Promise.all(sessions);
    };
    const targets = await targetsOf({});
    assert.equal(new Set(targets).size, 2);
    for (const fields of [
      { owner: 'owner-9' },
      { secret: 'sk-y' },
      { name: 'other' },
      { allowed_models: ['m', 'x'] },
    ]) {
      assert.deepEqual(await targetsOf(fields), targets);
    }
  });

  it('are both used by sessions of their own, on a second redirect too (R-046, R-135)', async () => {
    const sites = [
      ...FIXTURE_MAP.sites,
      { id: 'site-fr-3', url: 'https://site-fr-3.example.com', country: 'FR', eu: true },
    ];
    const placements = ['site-de-1', 'site-fr-3'].map((name) => placement('m', 'chat', name));
    const b = siteB({ map: { ...FIXTURE_MAP, sites, placements }, agents: [] });
    const targetOf = async (session: string) => {
      const headers: Record<string, string> = session === '' ? {} : { 'x-session-id': session };
      return claimsOf(await follow(b, tokenForB({ scope: { kind: 'all' } }), { headers })).target;
    };
    const sessions = Array.from({ length: 24 }, (_, index) => `conv-${index}`);
    const first = await Promise.all(sessions.map(targetOf));
    assert.equal(new Set(first).size, 2);
    assert.deepEqual(await Promise.all(sessions.map(targetOf)), first);
    const without = await Promise.all(Array.from({ length: 8 }, () => targetOf('')));
    assert.equal(new Set(without).size, 1);
  });
});

describe('the session of a redirect', () => {
  /** 5.2 by hand: the top bit of a hash over key, session and first home site, each behind its length. */
  function isTurned(key: string, session: Buffer, first: string): boolean {
    const prefixed = [Buffer.from(key), session, Buffer.from(first)].flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    });
    const digest = createHash('sha256').update('hivenet-router/session/v1\0');
    for (const bytes of prefixed) digest.update(bytes);
    return (digest.digest()[0] ?? 0) >= 0x80;
  }

  it('is the bytes of X-Session-ID as sent, blanks around them dropped, two lines joined (R-043, D-12)', async () => {
    // Vector of 5.4: without a key, llama-3-70b has its home at site-us-1, then site-de-1.
    const names = ['site-de-1', 'site-es-1', 'site-fr-1', 'site-fr-2', 'site-us-1'];
    const sites = [...names, 'site-xx-1'].map((id) => ({
      id,
      url: `https://${id}.example.com`,
      country: 'FR',
      eu: true,
    }));
    const placements = names.map((site) => placement('llama-3-70b', 'chat', site));
    const site = siteA({ siteId: 'site-xx-1', authMode: 'none', map: { ...FIXTURE_MAP, sites, placements } });
    const targetOf = async (headers: Headers) =>
      claimsOf(await site.send(CHAT, { method: 'POST', headers, body: '{"model":"llama-3-70b"}' })).target;
    const sessions = Array.from({ length: 48 }, (_, index) => Buffer.from([0xc3, 0xa9, 0x80 + index, 0xff - index]));
    for (const session of [Buffer.from(''), Buffer.from('conv-1'), Buffer.from('a, b'), ...sessions]) {
      const expected = isTurned('', session, 'site-us-1') ? 'site-de-1' : 'site-us-1';
      const headers = new Headers(session.length === 0 ? {} : { 'x-session-id': ` ${session.toString('latin1')}\t` });
      assert.equal(await targetOf(headers), expected, session.toString('hex'));
    }
    const twoLines = new Headers([
      ['x-session-id', 'a'],
      ['x-session-id', 'b'],
    ]);
    assert.equal(await targetOf(twoLines), await targetOf(new Headers({ 'x-session-id': 'a, b' })));
  });

  it('of the repeated request orders the home set of a second redirect, by the vectors (R-135, 5.4)', async () => {
    const [vector] = vectors.cases;
    const names = Object.keys(vector?.digests ?? {});
    const sites = [...names, 'site-a', 'site-b'].map((id) => {
      return { id, url: `https://${id}.example.com`, country: 'FR', eu: true };
    });
    const map = { ...FIXTURE_MAP, sites, placements: names.map((site) => placement('llama-3-70b', 'chat', site)) };
    const key = { id: 'key-abc123', secret: 'sk-abc' };
    const b = siteB({ siteId: 'site-b', map, agents: [], extraKeys: [key] });
    const claims = { keyId: key.id, model: 'llama-3-70b', origin: siteId('site-a'), target: siteId('site-b') };
    const seen = new Set<string>();
    for (const { session, order } of vector?.sessions ?? []) {
      const headers: Record<string, string> = { 'x-session-id': Buffer.from(session, 'hex').toString('latin1') };
      const { hop, target } = claimsOf(await follow(b, tokenForB(claims), { headers }));
      assert.deepEqual([hop, target], [2, order.split(' ')[0]]);
      seen.add(target);
    }
    assert.deepEqual([...seen], ['site-es-1', 'site-us-1']);
  });
});
