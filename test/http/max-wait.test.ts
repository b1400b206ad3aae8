// How long a client would wait for a model to wake, as it says itself.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP } from '../support/test-router.ts';
import { HERE, mapOf, sleeper, wakesAt } from './hold-fixture.ts';
import { CHAT, errorOf, follow, outcomeOf, siteA, siteB, tokenForB } from './redirect-fixture.ts';

describe('X-Hivenet-Max-Wait', () => {
  const withWait = (wait: string, more: Record<string, string> = {}) => ({
    ...bearer('key-1'),
    'x-hivenet-max-wait': wait,
    ...more,
  });

  for (const wait of ['0', '0s', '1ns', '20s', '1h', '59m60s', '+1s']) {
    it(`may be ${wait}`, async () => {
      const { ask } = sleeper({ map: FIXTURE_MAP });
      assert.equal(await outcomeOf(ask(withWait(wait))), '307 model_redirected');
    });
  }

  for (const wait of ['', '20', '1h1ns', '-1s', '1d', 'soon', '1s, 1s']) {
    it(`is 400 as "${wait}", redirected or not`, async () => {
      for (const map of [FIXTURE_MAP, mapOf([wakesAt(HERE)])]) {
        const { ask, site } = sleeper({ map });
        const response = await ask(withWait(wait));
        assert.equal(response.status, 400);
        assert.match(
          String((await errorOf(response))['message']),
          /^X-Hivenet-Max-Wait must be a duration from 0s to 1h/,
        );
        assert.deepEqual(await site.family('hivenet_hold_total'), []);
      }
    });
  }

  it('is looked at right after the scope, and after who asks', async () => {
    const site = siteA();
    const messageOf = async (headers: Record<string, string>) =>
      String((await errorOf(await site.ask(CHAT, 'no JSON', headers)))['message']);
    assert.match(await messageOf({ 'x-hivenet-max-wait': 'soon' }), /^unauthorized/);
    assert.match(await messageOf(withWait('soon', { 'x-hivenet-scope': 'mars' })), /^X-Hivenet-Scope/);
    assert.match(await messageOf(withWait('soon')), /^X-Hivenet-Max-Wait/);
  });

  it('counts also with a token, which a bad one does not use up (R-113)', async () => {
    const site = siteB();
    const token = tokenForB();
    assert.equal((await follow(site, token, { headers: { 'x-hivenet-max-wait': 'soon' } })).status, 400);
    assert.equal((await follow(site, token, { headers: { 'x-hivenet-max-wait': '1s' } })).status, 200);
    assert.equal(site.engineCalls[0]?.headers.get('x-hivenet-max-wait'), null);
  });
});
