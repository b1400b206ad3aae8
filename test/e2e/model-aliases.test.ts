// Aliases from a file through the binary: read at start, renewed by SIGHUP, and resolved by the first site of a redirect
// only.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { accessLineOf } from '../support/access-log.ts';
import { BARE_ENV, BINARY, run } from '../support/child-process.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';
import {
  createGround,
  type Ground,
  keyDocument,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const ADMIN = { authorization: `Bearer ${ADMIN_KEY}` };
const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

let ground: Ground;
let engine: EngineProcess;
let file: string;

before(async () => {
  ground = await createGround();
  engine = await startEngine({ name: 'only', models: ['large', 'small'] });
});

after(async () => {
  await engine.kill();
  ground.remove();
});

describe('--model-aliases-file', () => {
  let router: RouterProcess;

  afterEach(() => router.kill());

  async function startWith(text: string, ...args: readonly string[]): Promise<void> {
    await start(text, args);
    await untilServing(router, ['large', 'small']);
  }

  /** Asks nothing yet. */
  async function start(text: string, args: readonly string[] = []): Promise<void> {
    file = ground.write('aliases.yaml', text);
    router = await startRouter(['--model-aliases-file', file, ...engineFlags([engine]), ...args]);
  }

  /** Writes the file, sends the signal and waits for the line that tells its end. */
  async function reload(text: string, end: RegExp): Promise<void> {
    writeFileSync(file, text);
    router.signal('SIGHUP');
    await router.line((line) => end.test(line), 'stderr');
  }

  /** The model whose engine answered, or the status. */
  async function modelOf(name: string): Promise<string> {
    const body = JSON.stringify({ model: name, messages: MESSAGES, max_tokens: 3 });
    const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body });
    return answer.ok ? ((await answer.json()) as { model: string }).model : String(answer.status);
  }

  it('is read at start, and again on SIGHUP', async () => {
    await startWith('auto: [absent, small]\n');
    assert.equal(await modelOf('auto'), 'small');
    await reload('auto: large\nfast: small\n', /INFO Reloaded model aliases count=2/);
    assert.deepEqual([await modelOf('auto'), await modelOf('fast')], ['large', 'small']);
  });

  it('changes nothing when it is invalid on SIGHUP, and the log says why', async () => {
    await startWith('auto: small\n');
    await reload('auto: large\nfast: 1\nsmall: absent\n', /line 3, column 1/);
    const reasons = router.stderr.filter((line) => line.includes('ERROR Cannot reload model aliases, nothing changed'));
    assert.equal(reasons.length, 2);
    assert.match(reasons[0] ?? '', /aliases\.yaml line 2, column 1: .* 1: a model must be text of 1 to 256 bytes/);
    assert.match(
      reasons[1] ?? '',
      /line 3, column 1: .*small.*: would hide the model of that name: an agent here serves/,
    );
    assert.deepEqual([await modelOf('auto'), await modelOf('fast')], ['small', '404']);
    await reload('', /must map each alias/);
    assert.equal(await modelOf('auto'), 'small');
    await reload('auto: large\n', /INFO Reloaded model aliases count=1/);
    assert.equal(await modelOf('auto'), 'large');
  });

  it('gives way to PUT /admin/model-aliases until the next SIGHUP', async () => {
    await startWith('auto: small\n');
    const body = JSON.stringify({ aliases: { put: 'large' } });
    const answer = await fetch(`${router.url}/admin/model-aliases`, { method: 'PUT', headers: ADMIN, body });
    assert.equal(answer.status, 200);
    assert.deepEqual([await modelOf('put'), await modelOf('auto')], ['large', '404']);
    await reload('auto: small\n', /INFO Reloaded/);
    assert.deepEqual([await modelOf('put'), await modelOf('auto')], ['404', 'small']);
  });

  it('survives a burst of SIGHUP, whose last file counts', async () => {
    await startWith('auto: small\n');
    for (let sent = 0; sent < 20; sent += 1) router.signal('SIGHUP');
    await reload('auto: large\nlast: large\n', /Reloaded model aliases count=2/);
    assert.equal(await modelOf('auto'), 'large');
  });

  it('is not reloaded by a router that stops, which SIGHUP does not end either', async () => {
    await startWith('auto: small\n', '--shutdown-delay', '1h');
    router.signal('SIGTERM');
    await router.line((line) => line.includes('Stopping'), 'stderr');
    await reload('auto: large\n', /WARN SIGHUP: not reloading, the router is stopping/);
    assert.equal(await modelOf('auto'), 'small');
  });

  it('warns once of an alias that hides a model, as soon as an engine lists it', async () => {
    await start('large: small\nauto: small\n');
    const warnings = () => router.stderr.filter((line) => line.includes('WARN Alias ignored'));
    await router.line((line) => line.includes('Alias ignored: it would hide a model alias="large"'), 'stderr');
    assert.deepEqual([await modelOf('large'), await modelOf('auto')], ['large', 'small']);
    assert.equal(warnings().length, 1);
  });

  it('without it SIGHUP says that there is nothing to reload', async () => {
    router = await startRouter(engineFlags([engine]));
    router.signal('SIGHUP');
    await router.line((line) => line.includes('WARN SIGHUP: nothing to reload'), 'stderr');
    assert.equal((await fetch(`${router.url}/health`)).status, 200);
  });

  it('that is invalid refuses to start, with every error', async () => {
    const bad = ground.write('bad.yaml', 'auto: [m, m]\nauto: x\n');
    const worse = ground.write('worse.yaml', 'auto: [m, m]\nx: []\n');
    const startWithFile = (path: string) =>
      run([BINARY, '--model-aliases-file', path], { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY });
    const name = '--model-aliases-file (HIVENET_ROUTER_MODEL_ALIASES_FILE)';
    const twice = await startWithFile(bad);
    assert.equal(twice.code, 1);
    assert.deepEqual(twice.stderr, [`${name} "${bad}": line 2, column 1: this name was given before`]);
    const two = await startWithFile(worse);
    assert.deepEqual(two.stderr, [
      `${name} "${worse}": line 1, column 11: "auto"[1] "m": is listed twice`,
      `${name} "${worse}": line 2, column 1: "x": must list 1 to 32 models`,
    ]);
  });
});

describe('An alias that two sites understand differently', () => {
  const KEY = { id: 'key-1', secret: 'sk-of-the-aliases' };
  const BEARER = { authorization: `Bearer ${KEY.secret}` };
  let second: EngineProcess;
  let sites: readonly [SiteProcess, SiteProcess];

  before(async () => {
    second = await startEngine({ name: 'second', models: ['m', 'x'] });
    const site = (id: string, engines: readonly EngineProcess[], aliases: string) =>
      startSite(ground, {
        id,
        domain: 'aliases.localhost',
        engines,
        secrets: 'k1:0123456789abcdef0123456789abcdef',
        adminKey: ADMIN_KEY,
        args: ['--model-aliases-file', ground.write(`${id}.yaml`, aliases)],
      });
    sites = await Promise.all([
      site('site-fr-1', [], 'auto: [absent, m]\nonly-here: m\n'),
      site('site-fr-2', [second], 'auto: x\n'),
    ]);
    const map = mapDocument(1, [
      { site: sites[0], models: {} },
      { site: sites[1], models: { m: 'chat', x: 'chat' } },
    ]);
    for (const each of sites) {
      await push(each, '/admin/api-keys/replace', keyDocument([KEY]));
      await push(each, '/admin/sibling-map', map);
    }
    const client = { headers: BEARER, tls: { ca: ground.ca } };
    await untilServing(sites[1], ['m', 'x'], client);
  });

  after(async () => void (await Promise.all([...sites, second].map((running) => running.kill()))));

  for (const name of ['auto', 'only-here']) {
    it(`is resolved by the first site alone: ${name} (R-018, R-130)`, async () => {
      const fetchOptions = { tls: { ca: ground.ca } };
      const client = new OpenAI({ baseURL: `${sites[0].url}/v1`, apiKey: KEY.secret, maxRetries: 0, fetchOptions });
      const { data, response } = await client.chat.completions
        .create({ model: name, messages: MESSAGES })
        .withResponse();
      assert.match(data.choices[0]?.message.content ?? '', /^engine second, model m: /);
      const requestId = response.headers.get('x-request-id') ?? '';
      const lines = await Promise.all(sites.map((site) => accessLineOf(site, requestId)));
      assert.deepEqual(
        lines.map(({ status_code, alias, model }) => [status_code, alias, model]),
        [
          [307, name, 'm'],
          [200, undefined, 'm'],
        ],
      );
    });
  }

  it('means at the second site what that one says', async () => {
    const body = JSON.stringify({ model: 'auto', messages: MESSAGES });
    const answer = await fetch(`${sites[1].url}/v1/chat/completions`, {
      method: 'POST',
      headers: BEARER,
      body,
      tls: { ca: ground.ca },
    });
    assert.equal(((await answer.json()) as { model: string }).model, 'x');
  });
});
