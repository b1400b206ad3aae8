// What may happen at the second site while a client is on its way there with a token: it restarts, is told another map,
// loses the key or changes its secrets. Every request ends in an answer or in one 401, and the next one works.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { accessLineOf } from '../support/access-log.ts';
import { type EngineProcess, startEngine, untilServing } from '../support/router-process.ts';
import {
  type ClientKey,
  createGround,
  type Ground,
  keyDocument,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
const SECRET = 'k1:0123456789abcdef0123456789abcdef';
const NEW_SECRET = 'k2:fedcba9876543210fedcba9876543210';
const KEY: ClientKey = { id: 'key-1', secret: 'sk-between' };
const BEARER = { authorization: `Bearer ${KEY.secret}` };

let ground: Ground;
let engine: EngineProcess;
let first: SiteProcess;
let second: SiteProcess;
let mapVersion = 1;
/** Of three digits, for versions of keys are compared as texts. */
let keyVersion = 100;

before(async () => {
  ground = await createGround();
  engine = await startEngine({ name: 'chat-2', models: ['m'] });
  [first, second] = await Promise.all([startFirst(), startSecond()]);
});

beforeEach(() => settle());

after(async () => {
  await Promise.all([first, second, engine].map((running) => running.kill()));
  ground.remove();
});

const common = { domain: 'between.localhost', adminKey: 'admin-key-of-both' };

function startFirst(): Promise<SiteProcess> {
  return startSite(ground, { ...common, id: 'site-fr-1', engines: [], secrets: SECRET });
}

/** Where it was before, if it was. */
function startSecond(secrets = SECRET, url?: string): Promise<SiteProcess> {
  const address = url === undefined ? [] : ['--http-port', `127.0.0.1:${new URL(url).port}`];
  return startSite(ground, { ...common, id: 'site-fr-2', engines: [engine], secrets, args: address });
}

async function restartSecond(secrets?: string): Promise<void> {
  await second.stop();
  second = await startSecond(secrets, second.url);
}

async function pushKeys(site: SiteProcess, isEnabled = true): Promise<void> {
  keyVersion += 1;
  await push(site, '/admin/api-keys/replace', keyDocument([KEY], String(keyVersion), isEnabled));
}

async function pushMap(site: SiteProcess, models: Readonly<Record<string, 'chat'>> = { m: 'chat' }): Promise<void> {
  mapVersion += 1;
  const entries = [
    { site: first, models: {} },
    { site: second, models },
  ];
  await push(site, '/admin/sibling-map', mapDocument(mapVersion, entries));
}

/** Both sites know key and map, and the second one serves. */
async function settle(): Promise<void> {
  for (const site of [first, second]) {
    await pushKeys(site);
    await pushMap(site);
  }
  await untilSecondServes();
}

function untilSecondServes(): Promise<void> {
  const client = { headers: BEARER, tls: { ca: ground.ca } };
  return untilServing(second, ['m'], client);
}

/** A request that follows nothing by itself. */
function post(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body: BODY, redirect: 'manual', tls: { ca: ground.ca } });
}

async function locationOf(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await post(first.url + CHAT, { ...BEARER, ...headers });
  assert.equal(answer.status, 307);
  return answer.headers.get('location') ?? '';
}

async function assertRefused(answer: Response, reason: string): Promise<void> {
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('x-should-retry'), 'true');
  const line = await accessLineOf(second, answer.headers.get('x-request-id') ?? '');
  assert.equal(line.refusal_reason, reason);
}

async function mapVersionOf(site: SiteProcess): Promise<string | undefined> {
  const text = await (await fetch(`${site.metricsUrl}/metrics`)).text();
  return /^hivenet_sibling_map_version (\S+)$/m.exec(text)?.[1];
}

async function assertServed(answer: Response): Promise<void> {
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /engine chat-2, model m: /);
}

describe('Between the 307 and its follow-up', () => {
  it('a new map changes nothing for who is on the way, even one that no longer has the model there', async () => {
    const location = await locationOf();
    await pushMap(second, {});
    await assertServed(await post(location));
  });

  it('a key that is disabled is refused at the second site, and works again when it is enabled', async () => {
    const location = await locationOf();
    await pushKeys(second, false);
    await assertRefused(await post(location), 'key');
    await pushKeys(second);
    await assertServed(await post(location));
  });

  it('a restart empties the map: a country is refused until the next push, `all` is not (R-007, R-202, D-23)', async () => {
    const [country, everywhere] = [await locationOf(), await locationOf({ 'x-hivenet-scope': 'all' })];
    await restartSecond();
    await pushKeys(second);
    await untilSecondServes();
    assert.equal(await mapVersionOf(second), '0');
    await assertRefused(await post(country), 'scope');
    await assertServed(await post(everywhere));
    await pushMap(second);
    await assertServed(await post(country));
    await assertServed(await post(await locationOf()));
  });

  it('a restart forgets used tokens, which is why their life is short (T-06)', async () => {
    const location = await locationOf();
    await assertServed(await post(location));
    await assertRefused(await post(location), 'replay');
    await restartSecond();
    await settle();
    await assertServed(await post(location));
  });

  it('a rotation keeps the old secret in second place, and without it tokens on the way are refused', async () => {
    const [one, other] = [await locationOf(), await locationOf()];
    try {
      await restartSecond(`${NEW_SECRET},${SECRET}`);
      await settle();
      await assertServed(await post(one));
      await restartSecond(NEW_SECRET);
      await settle();
      await assertRefused(await post(other), 'signature');
    } finally {
      await restartSecond();
    }
  });
});

describe('A first site that restarts', () => {
  it('redirects nothing until its map is pushed again (R-007)', async () => {
    await first.stop();
    first = await startFirst();
    await pushKeys(first);
    const lost = await post(first.url + CHAT, BEARER);
    assert.equal(lost.status, 404);
    assert.match(await lost.text(), /"code":"model_not_found"/);
    assert.equal(await mapVersionOf(first), '0');
    await pushMap(first);
    assert.equal(await mapVersionOf(first), String(mapVersion));
    await assertServed(await post(await locationOf()));
  });
});
