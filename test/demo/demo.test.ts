// The demo as `make demo` runs it: whole, without the second site, and kept running.

import assert from 'node:assert/strict';
import process from 'node:process';
import { afterEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BARE_ENV, type RunningProcess, run, start } from '../support/child-process.ts';
import { RawConnection } from '../support/raw-connection.ts';

const DEMO = [process.execPath, fileURLToPath(new URL('main.ts', import.meta.url))];
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const MS = String.raw`\d+\.\d ms`;
/** Anything that looks like a token, an API key, an admin key or a secret of the demo. */
const SECRETS = /rt=|v2\.|sk-|[0-9a-f]{48}/;

/** Ports of the children that the demo's lines name: sites, metrics listeners, engines. */
function portsIn({ stdout }: RunningProcess): readonly string[] {
  const text = stdout.join('\n').replaceAll('--resolve', '');
  return [...new Set([...text.matchAll(/(?:127\.0\.0\.1|localhost)[:-](\d+)/g)].map(([, port]) => port ?? ''))];
}

async function areOpen(ports: readonly string[]): Promise<readonly boolean[]> {
  const isOpen = (port: string) =>
    RawConnection.open(`http://127.0.0.1:${port}`).then(
      (connection) => {
        connection.leave();
        return true;
      },
      () => false,
    );
  return Promise.all(ports.map(isOpen));
}

/** A proxy that is not there: whoever asked it would fail. */
const PROXIED = { ...BARE_ENV, HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };

describe('The demo', () => {
  let demo: RunningProcess | undefined;

  afterEach(async () => {
    // Not killed: that would leave its children behind.
    await demo?.stop();
    demo = undefined;
  });

  it('makes five calls, each redirected and served, and replays a token, whatever proxy is set', {
    timeout: 60_000,
  }, async () => {
    demo = start(DEMO, PROXIED);
    assert.equal(await demo.ended, 0, demo.stderr.join('\n'));
    assert.deepEqual(demo.stderr, []);
    const text = demo.stdout.join('\n');
    const call = `site-fr-1 answered 307 in ${MS} → site-fr-2 served it in ${MS}, ${MS} in all`;
    const findings = {
      'chat completion': String.raw`\d+ tokens by chat-fr-2`,
      'streamed chat': String.raw`\d+ chunks by chat-fr-2`,
      '/v1/messages': String.raw`\d+ tokens by chat-fr-2`,
      embedding: '64 dimensions by embed-fr-2',
      rerank: '3 documents by rerank-fr-2',
    };
    for (const [name, finding] of Object.entries(findings)) {
      assert.match(text, new RegExp(`^  ${name} +${call}\n +${finding} \\(vllm-.*\\), request ${UUID}$`, 'm'));
    }
    assert.match(text, new RegExp(`^  first use +site-fr-2 answered 200, request ${UUID}$`, 'm'));
    assert.match(
      text,
      new RegExp(`^  second use +site-fr-2 answered 401 with x-should-retry: true, request ${UUID}$`, 'm'),
    );
    assert.match(text, /^ {2}hivenet_redirects_total\{model="llama-3-70b",site="site-fr-2",hop="1"\} +4 +0$/m);
    assert.match(text, /^ {2}hivenet_redirect_rejections_total\{reason="replay"\} +0 +1$/m);
    assert.match(text, /^ {2}hivenet_sibling_map_version +(\d+) +\1$/m);
    assert.match(text, /^ {2}hivenet_sibling_map_hints_expired +0 +0$/m);
    assert.doesNotMatch(text, SECRETS);
    assert.ok(demo.stdout.every((line) => line.length <= 120));
  });

  it('fails with one clear line when the second site is down', { timeout: 60_000 }, async () => {
    demo = start([...DEMO, '--without-second-site'], BARE_ENV);
    assert.equal(await demo.ended, 1);
    assert.equal(demo.stderr.length, 1);
    assert.match(demo.stderr[0] ?? '', /^FAILED chat completion: site-fr-1 answered 307 to site-fr-2, then: /);
    assert.doesNotMatch([...demo.stdout, ...demo.stderr].join('\n'), SECRETS);
    assert.doesNotMatch(demo.stdout.join('\n'), /served it/);
    assert.deepEqual(await areOpen(portsIn(demo)), [false, false]);
  });

  it('refuses an option that it does not have', async () => {
    const { code, stderr } = await run([...DEMO, '--kepe']);
    assert.equal(code, 1);
    assert.match(stderr.join('\n'), /^FAILED unknown option "--kepe"/);
  });

  it('kept running, prints curl lines that work, and ends with all its children', { timeout: 60_000 }, async () => {
    demo = start([...DEMO, '--keep'], BARE_ENV);
    await demo.line((line) => line === 'Running until Ctrl-C.');
    assert.doesNotMatch(demo.stdout.join('\n'), SECRETS);
    const commands = demo.stdout.filter((line) => line.startsWith('curl '));
    const ports = portsIn(demo);
    assert.equal(ports.length, 7, 'two sites, two metrics listeners, three of four engines');
    assert.ok((await areOpen(ports)).every((isOpen) => isOpen));
    if ((await run(['curl', '--version']).catch(() => undefined))?.code === 0) await assertCurlLines(commands);
    demo.signal('SIGINT');
    assert.equal(await demo.ended, 0);
    assert.ok((await areOpen(ports)).every((isOpen) => !isOpen));
  });
});

async function assertCurlLines(commands: readonly string[]): Promise<void> {
  const expected = [
    /engine chat-fr-2, model llama-3-70b: /,
    /^HTTP\/1\.1 307 [\s\S]*location: https:\/\/site-fr-2\.[\s\S]*"code":"model_redirected"/i,
    /"id":"llama-3-8b"[\s\S]*"id":"bge-reranker-v2"/,
    /^\{"schema":3,"version":\d+/,
    /"id":"key-openai","key_hash":""/,
    /hivenet_redirects_total\{[\s\S]*hivenet_sibling_map_version/,
    /hivenet_redirect_rejections_total\{reason="replay"\} 1/,
  ];
  assert.equal(commands.length, expected.length);
  for (const [index, command] of commands.entries()) {
    const { code, stdout, stderr } = await run(['sh', '-c', command]);
    assert.equal(code, 0, stderr.join('\n'));
    assert.match(stdout.join('\n'), expected[index] ?? /never/);
  }
}
