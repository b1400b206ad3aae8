// The admin API of the alias table. What makes a table valid is tested in test/routing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALIASES_MAX_BYTES } from '../../src/routing/alias-document.ts';
import { ADMIN_KEY, bearer, createTestRouter, type TestRouter } from '../support/test-router.ts';
import { untouched } from './body-reading.ts';
import { CHAT, outcomeOf, siteA } from './redirect-fixture.ts';

const PATH = '/admin/model-aliases';

async function put(site: TestRouter, body: unknown): Promise<string> {
  const response = await site.admin('PUT', PATH, body);
  return `${response.status} ${await response.text()}`;
}

async function held(site: TestRouter): Promise<unknown> {
  const response = await site.admin('GET', PATH);
  assert.equal(response.status, 200);
  return response.json();
}

describe('GET /admin/model-aliases', () => {
  it('is an empty table at first', async () => {
    const response = await createTestRouter().admin('GET', PATH);
    assert.equal(await response.text(), '{"aliases":{}}');
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  });

  it('shows lists, whatever was put, and what it shows can be put', async () => {
    const site = createTestRouter();
    assert.equal(await put(site, { aliases: { fast: 'm', auto: ['a', 'b'] } }), '200 {"ok":true,"count":2}');
    const shown = { aliases: { fast: ['m'], auto: ['a', 'b'] } };
    assert.deepEqual(await held(site), shown);
    assert.equal(await put(site, shown), '200 {"ok":true,"count":2}');
    assert.deepEqual(await held(site), shown);
  });

  it('loses no name that objects have by themselves', async () => {
    const site = createTestRouter();
    const text = '{"aliases":{"__proto__":["m"],"constructor":["m"]}}';
    assert.match(await put(site, text), /^200 /);
    assert.equal(await (await site.admin('GET', PATH)).text(), text);
  });
});

describe('PUT /admin/model-aliases', () => {
  it('replaces the table whole, at once', async () => {
    const site = createTestRouter({ aliases: { old: ['m'] }, agents: [{ models: ['m'] }] });
    const ask = (model: string) => outcomeOf(site.ask(CHAT, { model }, bearer('key-1')));
    assert.deepEqual([await ask('old'), await ask('new')], ['200', '404 model_not_found']);
    assert.equal(await put(site, { aliases: { new: 'm' } }), '200 {"ok":true,"count":1}');
    assert.deepEqual([await ask('old'), await ask('new')], ['404 model_not_found', '200']);
    assert.equal(await put(site, { aliases: {} }), '200 {"ok":true,"count":0}');
    assert.equal(await ask('new'), '404 model_not_found');
    assert.ok(site.written.some((line) => line.includes('INFO Replaced model aliases count=1')));
  });

  it('names path and rule of everything that is wrong, and changes nothing', async () => {
    const site = createTestRouter({ aliases: { old: ['m'] } });
    const answer = await put(site, { aliases: { good: 'm', a: ['m', 1], b: [] } });
    const rules =
      'aliases."a"[1] 1: a model must be text of 1 to 256 bytes without control characters; ' +
      'aliases."b": must list 1 to 32 models';
    assert.equal(answer, `400 ${JSON.stringify({ error: rules })}`);
    assert.deepEqual(await held(site), { aliases: { old: ['m'] } });
    assert.ok(site.written.some((line) => line.includes('WARN Rejected model aliases rule="aliases.')));
  });

  it('refuses the name of a model that an agent here lists, or the map places', async () => {
    const site = siteA({ agents: [{ models: ['local'] }, { models: ['lost'], down: true }] });
    const refusal = (name: string, why: string) =>
      `400 ${JSON.stringify({ error: `aliases."${name}": would hide the model of that name: ${why}` })}`;
    assert.equal(await put(site, { aliases: { local: 'm' } }), refusal('local', 'an agent here serves it'));
    assert.equal(await put(site, { aliases: { lost: 'm' } }), refusal('lost', 'an agent here serves it'));
    assert.equal(await put(site, { aliases: { rr: 'm' } }), refusal('rr', 'the sibling map places it'));
    assert.match(await put(site, { aliases: { Local: 'm' } }), /^200 /);
  });

  it('bounds the body', async () => {
    const site = createTestRouter();
    const text = '{"aliases":{"a":"m"}}';
    assert.match(await put(site, text.padEnd(ALIASES_MAX_BYTES)), /^200 /);
    const tooLarge = '400 {"error":"The request body is larger than 262144 bytes."}';
    assert.equal(await put(site, text.padEnd(ALIASES_MAX_BYTES + 1)), tooLarge);
    const init = { method: 'PUT', body: untouched(), duplex: 'half' } as RequestInit;
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-length': String(ALIASES_MAX_BYTES + 1) };
    const declared = await site.send('/admin/model-aliases', { ...init, headers });
    assert.equal(`${declared.status} ${await declared.text()}`, tooLarge);
  });
});

describe('/admin/model-aliases', () => {
  it('is for admin keys', async () => {
    const site = createTestRouter({ aliases: { old: ['m'] } });
    for (const method of ['GET', 'PUT']) {
      assert.equal((await site.send(PATH, { method })).status, 401);
      assert.equal((await site.send(PATH, { method, headers: bearer('key-1') })).status, 401);
    }
    assert.deepEqual(await held(site), { aliases: { old: ['m'] } });
  });

  it('is 405 for other methods (E10)', async () => {
    const response = await createTestRouter().admin('POST', PATH, {});
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'GET, HEAD, PUT');
  });
});
