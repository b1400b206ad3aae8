// The binary alone in an empty folder, as an operator copies it onto a machine; and in a folder where somebody left files
// that a Bun program would load before its first line.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BARE_ENV, BINARY, type RunningProcess, run, start } from '../support/child-process.ts';
import { ADMIN_KEY, type EngineProcess, startEngine, untilServing } from '../support/router-process.ts';

let folder: string;
let engine: EngineProcess;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hivenet-router-alone-'));
  copyFileSync(BINARY, join(folder, 'hivenet-router'));
  engine = await startEngine({ name: 'alone', models: ['chat'] });
});

after(async () => {
  await engine.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder that holds nothing but the binary, and `files`. */
function emptyFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

/** Two flags and the admin keys; the metrics port is the test's, which may use no fixed one. */
function serve(cwd: string, env: Readonly<Record<string, string>> = {}): RunningProcess {
  return start(
    [join(folder, 'hivenet-router'), '--http-port', '127.0.0.1:0', '--engine', engine.setting],
    { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY, HIVENET_ROUTER_METRICS_PORT: '127.0.0.1:0', ...env },
    cwd,
  );
}

async function ask(router: RunningProcess): Promise<Response> {
  const line = await router.line((text) => text.startsWith('listening http '));
  const url = line.slice('listening http '.length);
  await untilServing({ url }, ['chat']);
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] });
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
}

describe('The binary alone', () => {
  it('serves with two flags and admin keys', async () => {
    const router = serve(emptyFolder('empty'));
    const answer = await ask(router);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /engine alone, model chat/);
    await router.kill();
  });

  it('reaches its engines directly, whatever proxy the environment names', async () => {
    const proxy = 'http://127.0.0.1:9';
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
    const env = Object.fromEntries(names.map((name) => [name, proxy]));
    const router = serve(emptyFolder('proxied'), { ...env, no_proxy: '', BUN_CONFIG_MAX_HTTP_REQUESTS: '1000' });
    assert.equal((await ask(router)).status, 200);
    await router.kill();
  });

  it('prints nothing of the files it reads, even where a library would for debugging', async () => {
    const agents = '{ agents: [{ id: a, engine: vllm, backend_url: "http://127.0.0.1:9", models: [m] }] }';
    const cwd = emptyFolder('debugged', { 'agents.yaml': agents });
    const router = serve(cwd, { HIVENET_ROUTER_AGENTS_FILE: 'agents.yaml', LOG_STREAM: '1', LOG_TOKENS: '1' });
    await router.line((text) => text.startsWith('listening metrics '));
    assert.deepEqual(
      router.stdout.filter((line) => !line.startsWith('listening ')),
      [],
    );
    await router.kill();
  });

  it('reads neither .env nor bunfig.toml of the folder it is started in', async () => {
    const hostile = emptyFolder('hostile', {
      '.env': 'HIVENET_ROUTER_MAX_REQUEST_BYTES=1\nHIVENET_ROUTER_FROM_DOTENV=1\n',
      '.env.local': 'HIVENET_ROUTER_AUTH_MODE=dynamic\n',
      '.env.production': 'HIVENET_ROUTER_AUTH_MODE=dynamic\n',
      'bunfig.toml': 'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n',
      'evil.ts': 'require("node:fs").writeFileSync("evil-was-here", "");',
      'package.json': '{"type":"module","imports":{"#x":"./evil.ts"}}',
      'tsconfig.json': '{"extends":"./missing.json"}',
    });
    const version = await run([join(folder, 'hivenet-router'), '--version'], BARE_ENV, hostile);
    assert.equal(version.code, 0);
    assert.deepEqual(version.stderr, []);
    const router = serve(hostile);
    assert.equal((await ask(router)).status, 200);
    assert.doesNotMatch(router.stderr.join('\n'), /FROM_DOTENV/);
    assert.ok(!existsSync(join(hostile, 'evil-was-here')), 'the preload ran');
    await router.kill();
  });
});
