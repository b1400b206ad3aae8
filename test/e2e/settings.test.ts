// That every setting reaches the room it is for: the table is tested where it stands, the wiring here, by what a client
// and a scrape see of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { accessLines } from '../support/access-log.ts';
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

const SECRETS = 'k1:0123456789abcdef0123456789abcdef';
/** Answers after a minute: every limit comes first. */
let slow: EngineProcess;
/** Begins at once and goes on after ten seconds. */
let pausing: EngineProcess;
let router: RouterProcess;

before(async () => {
  slow = await startEngine({ name: 'slow', models: ['slow'], args: ['--ttft', '1m'] });
  pausing = await startEngine({ name: 'pausing', models: ['pausing'], args: ['--tokens-per-second', '0.1'] });
  const limits = ['--request-timeout', '300ms', '--stream-idle-timeout', '301ms', '--max-request-bytes', '200'];
  const site = ['--site-id', 'site-fr-1', '--redirect-token-ttl', '90s', '--redirect-allowed-domains', '.example.com'];
  const dead = ['--engine', 'vllm=http://127.0.0.1:9#dead'];
  router = await startRouter([...engineFlags([slow, pausing]), ...dead, ...limits, ...site], {
    HIVENET_ROUTER_REDIRECT_SECRETS: SECRETS,
  });
  await untilServing(router, ['slow', 'pausing']);
});

after(async () => {
  await router.kill();
  await slow.kill();
  await pausing.kill();
});

const ask = (body: object): Promise<Response> =>
  fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body), redirect: 'manual' });

const MESSAGES = [{ role: 'user', content: 'Hello' }];

interface ErrorAnswer {
  readonly error: { readonly message: string; readonly expires_at?: string };
}

describe('A setting reaches its room', () => {
  it('--request-timeout', async () => {
    const answer = await ask({ model: 'slow', messages: MESSAGES });
    assert.equal(answer.status, 504);
    assert.match(((await answer.json()) as ErrorAnswer).error.message, /request timeout/);
  });

  it('--stream-idle-timeout', async () => {
    const answer = await ask({ model: 'pausing', messages: MESSAGES, stream: true });
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /\n\ndata: \{"type":"error".*idle timeout[^\n]*\n\n$/);
  });

  it('--stream-max-duration', async () => {
    const lively = await startEngine({ name: 'lively', models: ['lively'], args: ['--tokens-per-second', '100'] });
    const own = await startRouter(['--stream-max-duration', '300ms', ...engineFlags([lively])]);
    await untilServing(own, ['lively']);
    const body = JSON.stringify({ model: 'lively', messages: MESSAGES, stream: true, min_tokens: 900 });
    const answer = await fetch(`${own.url}/v1/chat/completions`, { method: 'POST', body });
    assert.match(await answer.text(), /\n\ndata: \{"type":"error".*longer than this router allows[^\n]*\n\n$/);
    await Promise.all([own.kill(), lively.kill()]);
  });

  it('--max-request-bytes', async () => {
    const padded = (size: number) => ({ model: 'x', pad: 'p'.repeat(size - '{"model":"x","pad":""}'.length) });
    assert.equal((await ask(padded(200))).status, 404);
    assert.equal((await ask(padded(201))).status, 413);
  });

  it('--site-id with secrets, domains and a map turns redirects on, for --redirect-token-ttl (R-004)', async () => {
    const map = {
      schema: 3,
      version: 1,
      region: 'eu',
      sites: [
        { id: 'site-fr-1', url: 'https://a.example.com', country: 'FR', eu: true },
        { id: 'site-fr-2', url: 'https://b.example.com', country: 'FR', eu: true },
      ],
      placements: [{ model: 'away', kind: 'chat', site: 'site-fr-2', scale_from_zero: false }],
    };
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const pushed = await fetch(`${router.url}/admin/sibling-map`, {
      method: 'POST',
      headers,
      body: JSON.stringify(map),
    });
    assert.equal(pushed.status, 200);
    const askedMs = Date.now();
    const answer = await ask({ model: 'away' });
    const answeredMs = Date.now();
    assert.equal(answer.status, 307);
    const issuedMs = Date.parse(((await answer.json()) as ErrorAnswer).error.expires_at ?? '') - 90_000;
    assert.ok(issuedMs >= askedMs && issuedMs <= answeredMs, `${askedMs} ${issuedMs} ${answeredMs}`);
  });

  it('none brings a sibling map, nor does a variable or a file: only a push does (R-006)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'no-map-'));
    const map = JSON.stringify({ schema: 3, version: 1, region: 'eu', sites: [], placements: [] });
    for (const name of ['sibling-map.json', 'sibling_map.json']) writeFileSync(join(folder, name), map);
    const env = { HIVENET_ROUTER_SIBLING_MAP: map, HIVENET_ROUTER_SIBLING_MAP_FILE: join(folder, 'sibling-map.json') };
    const site = ['--site-id', 'site-fr-1', '--redirect-allowed-domains', '.example.com'];
    const own = await startRouter(site, { HIVENET_ROUTER_REDIRECT_SECRETS: SECRETS, ...env }, folder);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const held = await fetch(`${own.url}/admin/sibling-map`, { headers });
    assert.equal(await held.text(), '{"schema":3,"version":0,"sites":[],"placements":[]}');
    await own.kill();
    rmSync(folder, { recursive: true });
  });

  it('--engine: healthy ones and others stand in the metrics, and in the log why one is not ready', async () => {
    const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
    const health = text.split('\n').filter((line) => line.startsWith('hivenet_routing_agent_healthy{'));
    const idOf = (engine: EngineProcess) => `vllm-${new URL(engine.url).host.replace(':', '-')}`;
    const line = (id: string, model: string, value: number) =>
      `hivenet_routing_agent_healthy{peer_id="${id}",region="Unknown",engine="vllm",model="${model}",capacity="10",` +
      `organization="Unknown",machine="Unknown"} ${value}`;
    assert.deepEqual(health, [
      line(idOf(slow), 'slow', 1),
      line(idOf(pausing), 'pausing', 1),
      line('vllm-127.0.0.1-9', 'dead', 0),
    ]);
    await router.line(
      (line) => /INFO Agent is not ready yet agent_id="vllm-127.0.0.1-9" reason="/.test(line),
      'stderr',
    );
  });

  it('--http-port: an IPv6 address shows as one in the URL, and the peer in the access log', async () => {
    const own = await startRouter(['--http-port', '[::1]:0']);
    assert.match(own.url, /^http:\/\/\[::1\]:\d+$/);
    assert.equal((await fetch(`${own.url}/health`)).status, 200);
    await own.line((line) => line.includes('"source_ip":"::1"'));
    await own.kill();
    assert.equal(accessLines(own).length, 1);
  });

  it('--http-port: two routers cannot have one, for each would have a ledger of its own (R-223)', async () => {
    const { host } = new URL(router.url);
    const env = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const second = await run([BINARY, '--http-port', host, '--metrics-port', '127.0.0.1:0'], env);
    assert.equal(second.code, 1);
    assert.match(second.stderr.join('\n'), /^Cannot listen on .* the port is in use$/);
  });
});
