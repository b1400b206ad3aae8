// The same source on Deno: a router and an engine from src/main.deno.ts, so that the second runtime's side of
// `Runtime` is more than a file that compiles.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bytes, type Engine, startEngine as startProvider, stopEngines } from '../dispatch/engines.ts';
import { eventStream, goldenStreams } from '../dispatch/providers/golden.ts';
import { BARE_ENV, type RunningProcess, start } from '../support/child-process.ts';
import { ADMIN_KEY, type EngineProcess, startEngine, untilServing } from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';
import { CROSS_SITE, freePort, mapOf, pushMap, SECRETS } from '../support/sleeping-site.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** As the README says. */
const COMMAND = 'node_modules/.bin/deno task start';

const EVENTS = { 'content-type': 'text/event-stream' };
const [PROVIDER_STREAM] = goldenStreams('stream-to-anthropic');

const ON_FREE_PORTS = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];

function startOnDeno(args: readonly string[], env: Readonly<Record<string, string>>): RunningProcess {
  return start(
    [...COMMAND.split(' '), ...ON_FREE_PORTS, ...args],
    { ...BARE_ENV, DENO_NO_UPDATE_CHECK: '1', HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY, ...env },
    ROOT,
  );
}

async function urlOf(router: RunningProcess): Promise<string> {
  return (await router.line((text) => text.startsWith('listening http '))).slice('listening http '.length);
}

describe('The source on Deno', () => {
  it('is started as the README says', () => {
    assert.ok(readFileSync(`${ROOT}README.md`, 'utf8').includes(`\`${COMMAND} --engine …\``));
  });

  let engine: EngineProcess;
  let provider: Engine;
  let ground: Ground;
  let router: RunningProcess;
  let url = '';

  before(async () => {
    engine = await startEngine({ name: 'behind-deno', models: ['chat'] });
    provider = await startProvider(bytes(200, eventStream('openai', PROVIDER_STREAM?.in ?? []), EVENTS));
    ground = await createGround();
    const policy = ground.write('policy.yaml', 'fallback_provider: {engine: openai, model: target}');
    const flags = ['--engine', engine.setting, '--policy-file', policy, '--openai-base-url', `${provider.url}/v1`];
    const debugging = { LOG_STREAM: '1', LOG_TOKENS: '1' };
    router = startOnDeno(flags, { HIVENET_ROUTER_OPENAI_API_KEY: 'sk-of-the-operator', ...debugging });
    url = await urlOf(router);
    await untilServing({ url }, ['chat']);
  });

  after(async () => {
    await router.kill();
    await engine.kill();
    stopEngines();
    ground.remove();
  });

  const ask = (stream: boolean): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'chat', stream, messages: [{ role: 'user', content: 'Hello' }] }),
    });

  it('prints nothing of the files it reads, even where a library would for debugging', () => {
    const others = router.stdout.filter((line) => !line.startsWith('listening ') && !line.startsWith('{"log_type":'));
    assert.deepEqual(others, []);
  });

  it('serves a whole answer with its length', async () => {
    const answer = await ask(false);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /engine behind-deno, model chat/);
  });

  it('serves a stream to its end', async () => {
    const answer = await ask(true);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.match(await answer.text(), /data: \[DONE\]\n\n$/);
  });

  it('serves a stream of a provider in the client\u2019s dialect', async () => {
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'x', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(await answer.text(), eventStream('anthropic', PROVIDER_STREAM?.out ?? []));
    assert.equal(provider.seen[0]?.headers['authorization'], 'Bearer sk-of-the-operator');
  });

  it('counts the bytes of a body itself', async () => {
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: 'x'.repeat(10_485_761) });
    assert.equal(answer.status, 413);
  });

  it('keeps its state over a restart, with the permission to write there (docs/state.md)', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'state-deno-'));
    const allowed = [
      'node_modules/.bin/deno',
      'run',
      '--unstable-no-legacy-abort',
      '-A',
      '--quiet',
      'src/main.deno.ts',
    ];
    const flags = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0', '--auth-mode', 'dynamic'];
    const life = async (
      live: (admin: (method: string, path: string, body?: string) => Promise<string>) => Promise<void>,
    ) => {
      const env = { ...BARE_ENV, DENO_NO_UPDATE_CHECK: '1', HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
      const kept = start([...allowed, ...flags, '--state-dir', directory], env, ROOT);
      const at = (await kept.line((text) => text.startsWith('listening http '))).slice('listening http '.length);
      await live(async (method, path, body) => {
        const headers = { authorization: `Bearer ${ADMIN_KEY}` };
        const answer = await fetch(at + path, { method, headers, ...(body === undefined ? {} : { body }) });
        return `${answer.status} ${await answer.text()}`;
      });
      await kept.kill();
      assert.deepEqual(
        kept.stderr.filter((line) => line.includes(' ERROR ')),
        [],
      );
    };
    const keys = { version: '7', keys: [{ id: 'a', key_hash: 'a'.repeat(64), owner: 'o', name: 'n' }] };
    await life(async (admin) => {
      assert.match(await admin('POST', '/admin/api-keys/replace', JSON.stringify(keys)), /^200 /);
    });
    await life(async (admin) => {
      assert.equal(await admin('GET', '/admin/api-keys/version'), '200 {"version":"7","count":1}');
      assert.match(await admin('GET', '/health/ready'), /^200 /);
    });
    rmSync(directory, { recursive: true });
  });

  it('holds a request until its model wakes, and lets one go whose client leaves', { timeout: 30_000 }, async () => {
    const port = await freePort();
    const args = [...CROSS_SITE, '--engine', `vllm=http://127.0.0.1:${port}#m`];
    const site = startOnDeno(args, SECRETS);
    const late = { engine: undefined as EngineProcess | undefined };
    try {
      const siteUrl = await urlOf(site);
      await pushMap(siteUrl, mapOf(1, ['m']));
      const hold = (signal?: AbortSignal) =>
        fetch(`${siteUrl}/v1/chat/completions`, {
          method: 'POST',
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
          ...(signal === undefined ? {} : { signal }),
        });
      const [held, left] = [hold(), hold(AbortSignal.timeout(300)).catch(() => undefined)];
      await left;
      await site.line((text) => text.includes('"status_code":499'));
      late.engine = await startEngine({ name: 'late', models: ['m'], port });
      const answer = await held;
      assert.equal(answer.status, 200);
      assert.match(`${answer.headers.get('server-timing')}`, /^hold;dur=\d+$/);
      assert.match(await answer.text(), /engine late/);
    } finally {
      // Not killed: what `deno task` runs would be left.
      await Promise.all([site.stop(), late.engine?.kill()]);
    }
  });

  it('writes an access line and ends with 0 on SIGTERM', async () => {
    await (await ask(false)).text();
    await router.line((text) => text.includes('"agent_id"'));
    router.signal('SIGTERM');
    assert.equal(await router.ended, 0);
  });
});
