// The binary with `--state-dir`: what a restart, a kill and a disk that takes no more leave behind.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
import { BARE_ENV, BINARY, type RunningProcess, run, start } from '../support/child-process.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  metricOf,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';
import { crash } from '../support/state-crashes.ts';

const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };
const CALLER = { authorization: 'Bearer sk-a' };
const FREE_PORTS = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];
const REDIRECT = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
const ENV = { HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}` };
const PATIENT = { timeout: 30_000 };

const folder = mkdtempSync(join(tmpdir(), 'state-e2e-'));
let engine: EngineProcess;

before(async () => {
  engine = await startEngine({ name: 'e', models: ['chat'] });
});

after(async () => {
  await engine.kill();
  rmSync(folder, { recursive: true });
});

function startOn(directory: string) {
  const flags = ['--auth-mode', 'dynamic', '--state-dir', directory, '--engine', engine.setting, ...REDIRECT];
  return startRouter(flags, ENV);
}

async function push(
  router: { readonly url: string },
  path: string,
  body: Uint8Array<ArrayBuffer> | object,
): Promise<void> {
  const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = await fetch(`${router.url}/admin/${path}`, { method: 'POST', headers: HEADERS, body: sent });
  assert.equal(answer.status, 200, await answer.text());
}

const KEY = { id: 'a', key_hash: hashKey('sk-a'), owner: 'o', name: 'n', enabled: true };

async function askOnce(router: { readonly url: string }): Promise<number> {
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] });
  const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', headers: CALLER, body });
  await answer.text();
  return answer.status;
}

describe('A router with --state-dir', () => {
  it('goes on after a restart where it stopped, ready as soon as it listens', PATIENT, async () => {
    const directory = join(folder, 'restart');
    const first = await startOn(directory);
    assert.equal((await fetch(`${first.url}/health/ready`)).status, 503);
    await push(first, 'sibling-map', bigMapBytes(7, 'a', 10));
    await push(first, 'api-keys/replace', { version: '1', keys: [KEY] });
    await untilServing(first, ['chat'], { headers: CALLER });
    for (let count = 0; count < 3; count += 1) assert.equal(await askOnce(first), 200);
    assert.equal(await first.stop(), 0);
    assert.deepEqual(readdirSync(directory), ['state.sqlite'], 'it was closed, and its log is in it');

    const second = await startOn(directory);
    assert.equal((await fetch(`${second.url}/health/ready`)).status, 200);
    assert.equal(await metricOf(second, 'hivenet_sibling_map_version'), 7);
    // Within a second before the stop: the last flush was part of it.
    const metrics = await (await fetch(`${second.metricsUrl}/metrics`)).text();
    assert.match(metrics, /^hivenet_agent_requests_success_total\{.*\} 3$/m);
    assert.match(metrics, /^hivenet_agent_srtt_ms\{/m);
    await untilServing(second, ['chat'], { headers: CALLER });
    assert.equal(await askOnce(second), 200);
    await second.kill();
  });

  it('has what it answered, whole, whenever it is killed', PATIENT, async () => {
    await crash([150, 600, 3_000]);
  });

  const limited = async (directory: string) => {
    const command = ['bash', '-c', 'ulimit -S -f 1000; exec "$0" "$@"', BINARY, 'serve'];
    const env = { ...BARE_ENV, ...ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const router = start([...command, ...FREE_PORTS, '--state-dir', directory, ...REDIRECT], env);
    const url = await urlAfter(router, 'listening http ');
    return { ...router, url, metricsUrl: await urlAfter(router, 'listening metrics ') };
  };

  it('serves on while the disk takes no more, and writes as soon as it does', PATIENT, async () => {
    const directory = join(folder, 'full');
    const router = await limited(directory);
    await push(router, 'sibling-map', bigMapBytes(1, 'a', 10));
    assert.equal(await metricOf(router, 'hivenet_quota_backend_errors_total'), 0);
    await push(router, 'sibling-map', bigMapBytes(2, 'a', 20_000));
    assert.equal((await fetch(`${router.url}/health/ready`)).status, 200);
    assert.ok((await metricOf(router, 'hivenet_quota_backend_errors_total')) > 0);
    const told = () => router.stderr.filter((line) => line.includes('state directory'));
    assert.equal(told().length, 1);
    assert.match(told()[0] ?? '', / ERROR Cannot write to the state directory, trying again reason=/);
    assert.equal((await run(['prlimit', '--pid', String(router.pid), '--fsize=unlimited:'])).code, 0);
    await router.line((line) => line.includes('The state directory is written to again'), 'stderr');
    await router.kill();

    const next = await startRouter(['--state-dir', directory, ...REDIRECT], ENV);
    assert.equal(await metricOf(next, 'hivenet_sibling_map_version'), 2);
    await next.kill();
  });

  it('writes what fits after a push that did not, and has it when it starts on that disk', PATIENT, async () => {
    const directory = join(folder, 'small');
    const router = await limited(directory);
    await push(router, 'sibling-map', bigMapBytes(1, 'a', 4_000));
    await push(router, 'sibling-map', bigMapBytes(2, 'a', 20_000));
    await push(router, 'sibling-map', bigMapBytes(3, 'a', 10));
    await router.line((line) => line.includes('The state directory is written to again'), 'stderr');
    await push(router, 'sibling-map', bigMapBytes(4, 'a', 20_000));
    await router.kill();
    const next = await limited(directory);
    assert.equal(await metricOf(next, 'hivenet_sibling_map_version'), 3);
    assert.deepEqual(readdirSync(directory).sort(), ['state.sqlite', 'state.sqlite-wal']);
    await next.kill();
  });

  it('sets a file aside that it cannot read, says so, and starts', PATIENT, async () => {
    const directory = mkdtempSync(join(folder, 'damaged-'));
    writeFileSync(join(directory, 'state.sqlite'), 'x'.repeat(20_000));
    const router = await startRouter(['--state-dir', directory]);
    assert.match(
      router.stderr.join('\n'),
      / ERROR Cannot read state file .*; it was set aside as ".*state\.sqlite\.set-aside"/,
    );
    await router.kill();
  });

  const refused = async (directory: string, rule: RegExp) => {
    const env = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const { code, stdout, stderr } = await run([BINARY, 'serve', ...FREE_PORTS, '--state-dir', directory], env);
    assert.deepEqual([code, stdout], [1, []]);
    assert.match(stderr.join('\n'), rule);
  };

  it('does not start on a directory that another router has, nor on one that it may not use', PATIENT, async () => {
    const directory = join(folder, 'taken');
    const router = await startRouter(['--state-dir', directory]);
    await refused(directory, /^Cannot use state directory ".*taken": a running router has it$/);
    await router.kill();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await refused(file, /^Cannot use state directory ".*file": it is not a directory$/);
    await refused(join(folder, 'no', 'such'), /^Cannot use state directory ".*such": .*ENOENT/);
    const open = mkdtempSync(join(folder, 'open-'));
    chmodSync(open, 0o777);
    await refused(open, /^Cannot use state directory ".*": everyone may write to it/);
  });

  it('gives its directory back when it cannot listen', PATIENT, async () => {
    const directory = join(folder, 'no-port');
    const other = await startRouter([]);
    const flags = ['--http-port', new URL(other.url).host, '--metrics-port', '127.0.0.1:0', '--state-dir', directory];
    const env = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const { code, stderr } = await run([BINARY, 'serve', ...flags], env);
    assert.equal(code, 1, stderr.join('\n'));
    await other.kill();
    await (await startRouter(['--state-dir', directory])).kill();
  });
});

async function urlAfter(running: RunningProcess, prefix: string): Promise<string> {
  return (await running.line((line) => line.startsWith(prefix))).slice(prefix.length);
}
