// The auth file through the binary: static keys, SIGHUP, what excludes them, and an admin API without keys (R-151, R-152,
// api.md 8 to 11).

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
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

const SITE = ['--site-id', 'site-fr-1', '--redirect-allowed-domains', '.example.com'];
const SECRETS = { HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}` };

let folder: string;
let engine: EngineProcess;
let router: RouterProcess | undefined;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'static-keys-'));
  engine = await startEngine({ name: 'e', models: ['m'] });
});

afterEach(async () => {
  await router?.kill();
  router = undefined;
});

after(async () => {
  await engine.kill();
  rmSync(folder, { recursive: true });
});

const keyed = (secret: string, more = '') => {
  const hash = createHash('sha256').update(secret).digest('hex');
  return `api:\n  mode: api-key\n  keys:\n    - {key_hash: ${hash}, metadata: {name: n, owner: o}${more}}\n`;
};

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RouterProcess> {
  router = await startRouter([...engineFlags([engine]), ...args], env);
  return router;
}

async function ask({ url }: RouterProcess, secret: string): Promise<Response> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 3 });
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer;
}

describe('Static keys', () => {
  it('open for their secrets, within their quota, until SIGHUP brings others; what was used stays used', async () => {
    const quota = ', quota: {requests_per_minute: 2}';
    const path = write('auth.yaml', keyed('sk-old', quota));
    const site = await start(['--auth-config-file', path]);
    await untilServing(site, ['m'], { headers: { authorization: 'Bearer sk-old' } });
    assert.equal((await ask(site, 'sk-new')).status, 401);
    const admitted = await ask(site, 'sk-old');
    assert.deepEqual([admitted.status, admitted.headers.get('x-ratelimit-remaining-requests')], [200, '1']);
    write('auth.yaml', keyed('sk-new', quota));
    site.signal('SIGHUP');
    await site.line((line) => line.includes('Reloaded auth file'), 'stderr');
    assert.equal((await ask(site, 'sk-old')).status, 401);
    assert.deepEqual([(await ask(site, 'sk-new')).status, (await ask(site, 'sk-new')).status], [200, 429]);
    const pushed = await fetch(`${site.url}/admin/api-keys`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    assert.equal(pushed.status, 501);
  });

  it('refuse to start beside a site ID (R-151)', async () => {
    const path = write('beside.yaml', keyed('sk-any'));
    const env = { ...BARE_ENV, ...SECRETS, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const ports = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];
    const ended = await run([BINARY, 'serve', ...ports, ...SITE, '--auth-config-file', path], env);
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr.join('\n'),
      /--auth-config-file .*beside\.yaml.*not with --site-id .*static keys have no key ID/,
    );
  });

  it('are not brought to a site with an ID by SIGHUP, which says so (R-152)', async () => {
    const path = write('later.yaml', 'api: {mode: none}\n');
    const site = await start([...SITE, '--auth-config-file', path], SECRETS);
    await untilServing(site, ['m']);
    write('later.yaml', keyed('sk-any'));
    site.signal('SIGHUP');
    const line = await site.line((text) => text.includes('Cannot reload auth file'), 'stderr');
    assert.match(line, / ERROR .*static keys have no key ID/);
    assert.equal((await ask(site, 'sk-whoever')).status, 200);
  });

  it('are refused at the start when a policy would shut them out', async () => {
    const path = write('short.yaml', keyed('sk-any', ', quota: {input_tokens_per_minute: 99}'));
    const policy = write('policy.yaml', 'mode: serverless\nmax_input_tokens: 100\nrouting_policy: {}\n');
    const env = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const ended = await run([BINARY, 'serve', '--auth-config-file', path, '--policy-file', policy], env);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr.join('\n'), /key "n": input_tokens_per_minute 99 must be at least max_input_tokens 100/);
  });
});

describe('HIVENET_ROUTER_ALLOW_INSECURE_ADMIN', () => {
  it('opens /admin, and warns of it at every start', async () => {
    const env = { HIVENET_ROUTER_ADMIN_API_KEYS: '', HIVENET_ROUTER_ALLOW_INSECURE_ADMIN: 'true' };
    for (let count = 0; count < 2; count += 1) {
      const site = await start([], env);
      const line = await site.line((text) => text.includes('ADMIN IS OPEN'), 'stderr');
      assert.match(line, / WARN HIVENET_ROUTER_ALLOW_INSECURE_ADMIN/);
      assert.equal((await fetch(`${site.url}/admin/health`)).status, 200);
      await site.kill();
    }
  });

  it('does not open a router whose keys come in through /admin', async () => {
    const env = { ...BARE_ENV, HIVENET_ROUTER_ALLOW_INSECURE_ADMIN: 'true', HIVENET_ROUTER_AUTH_MODE: 'dynamic' };
    const ended = await run([BINARY, 'serve'], env);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr.join('\n'), /HIVENET_ROUTER_ADMIN_API_KEYS: required with --auth-mode/);
  });
});

describe('The settings of limits', () => {
  it('reach their rooms: burst, fraction and park timeout', async () => {
    const path = write('burst.yaml', keyed('sk-any', ', quota: {requests_per_minute: 120}'));
    const budget = 'admit_budget_tokens: 1000\nrouting_policy: {}\n';
    const policy = ['--policy-file', write('budget.yaml', budget)];
    const flags = ['--rpm-burst-seconds', '1', '--admit-fraction', '0.5', '--admit-park-timeout', '0s'];
    const site = await start(['--auth-config-file', path, ...policy, ...flags]);
    await untilServing(site, ['m'], { headers: { authorization: 'Bearer sk-any' } });
    assert.equal((await ask(site, 'sk-any')).headers.get('x-ratelimit-remaining-requests'), '1');
    const large = await fetch(`${site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-any' },
      body: JSON.stringify({ model: 'm', messages: [], max_tokens: 501 }),
    });
    assert.deepEqual([large.status, large.headers.get('retry-after')], [429, '60']);
    const told = (await large.json()) as { error: { code: string } };
    assert.equal(told.error.code, 'concurrency_limit_exceeded');
  });
});
