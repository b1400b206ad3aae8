// How the binary starts, and how it refuses to: by its exit code and what an operator reads on the terminal.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { createAuthority } from '../support/authority.ts';
import { BARE_ENV, BINARY, type EndedProcess, run } from '../support/child-process.ts';
import { ADMIN_KEY, startRouter } from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const WITH_ADMIN: Readonly<Record<string, string>> = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
const FREE_PORTS = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];

let ground: Ground;
let taken: Server;
let takenAddress: string;

before(async () => {
  ground = await createGround();
  taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  takenAddress = `127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
});

after(() => {
  taken.close();
  ground.remove();
});

/** Exit code 1, nothing on stdout, and these lines on stderr: `words` stand in the line of the same place, all of them. */
function assertRefused({ code, stdout, stderr }: EndedProcess, ...lines: readonly (readonly string[])[]): void {
  assert.equal(stderr.length, lines.length, stderr.join('\n'));
  for (const [index, words] of lines.entries()) {
    for (const word of words) assert.ok(stderr[index]?.includes(word), `"${word}" is missing in: ${stderr[index]}`);
  }
  assert.deepEqual(stdout, []);
  assert.doesNotMatch(stderr.join('\n'), /^\s+at |\w+Error\b|\$bunfs|\.ts:/m);
  assert.equal(code, 1);
}

describe('hivenet-router', () => {
  it('prints its version and nothing else', async () => {
    for (const args of [['--version'], ['serve', '--version']]) {
      const { code, stdout, stderr } = await run([BINARY, ...args]);
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 0, stdout: [`hivenet-router ${packageJson.version}`], stderr: [] },
      );
    }
  });

  it('prints its help with every way to call it', async () => {
    const { code, stdout, stderr } = await run([BINARY, '--help']);
    const text = stdout.join('\n');
    assert.equal(code, 0);
    assert.deepEqual(stderr, []);
    for (const word of ['serve', 'mock-engine', '--http-port', 'HIVENET_ROUTER_ADMIN_API_KEYS', '--site-id']) {
      assert.ok(text.includes(word), word);
    }
  });

  it('refuses a bare start, because nobody could push keys or a map', async () => {
    assertRefused(await run([BINARY]), ['HIVENET_ROUTER_ADMIN_API_KEYS', 'required']);
  });

  it('refuses a command that it does not have', async () => {
    assertRefused(await run([BINARY, 'server'], WITH_ADMIN), ['"server"', 'serve', 'mock-engine']);
  });
});

describe('hivenet-router serve', () => {
  const serve = (args: readonly string[], env = WITH_ADMIN) => run([BINARY, 'serve', ...args], env);

  it('refuses an unknown flag', async () => {
    assertRefused(await serve([...FREE_PORTS, '--htp-port', ':1']), ['"--htp-port"', 'unknown flag']);
  });

  it('refuses a port in use, on either listener, and leaves no half of itself behind', async () => {
    const [http, metrics] = await Promise.all([
      serve(['--http-port', takenAddress, '--metrics-port', '127.0.0.1:0']),
      serve(['--http-port', '127.0.0.1:0', '--metrics-port', takenAddress]),
    ]);
    assertRefused(http, [takenAddress, '--http-port (HIVENET_ROUTER_HTTP_PORT)', 'in use']);
    assertRefused(metrics, [takenAddress, '--metrics-port (HIVENET_ROUTER_METRICS_PORT)', 'in use']);
  });

  it('refuses a certificate that it cannot read', async () => {
    const { keyFile } = await ground.issue('unread.localhost');
    const missing = `${ground.folder}/missing.crt`;
    const tls = ['--tls-cert-file', missing, '--tls-key-file', keyFile];
    const names = '--tls-cert-file (HIVENET_ROUTER_TLS_CERT_FILE)';
    assertRefused(await serve([...FREE_PORTS, ...tls]), [names, missing, 'cannot be read']);
    const folder = ['--tls-cert-file', ground.folder, '--tls-key-file', keyFile];
    assertRefused(await serve([...FREE_PORTS, ...folder]), [names, ground.folder, 'cannot be read']);
  });

  it('refuses a certificate and a key that do not fit', async () => {
    const { certFile } = await ground.issue('one.localhost');
    const other = await (await createAuthority()).issue('other.localhost');
    const keyFile = ground.write('other.key', other.key);
    const tls = ['--tls-cert-file', certFile, '--tls-key-file', keyFile];
    const names = '--tls-key-file (HIVENET_ROUTER_TLS_KEY_FILE)';
    assertRefused(await serve([...FREE_PORTS, ...tls]), [names, 'not the key of the certificate']);
  });

  const SITE = ['--site-id', 'site-fr-1'];
  const DOMAINS = ['--redirect-allowed-domains', '.example.com'];
  const SECRETS = { HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}` };
  const SECRETS_NAMES = '--redirect-secret-file (HIVENET_ROUTER_REDIRECT_SECRETS)';
  const SITE_NAMES = '--site-id (HIVENET_ROUTER_SITE_ID)';
  const TTL_NAMES = '--redirect-token-ttl (HIVENET_ROUTER_REDIRECT_TOKEN_TTL)';
  const DOMAINS_NAMES = '--redirect-allowed-domains (HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS)';
  const AUTH_NAMES = '--auth-mode (HIVENET_ROUTER_AUTH_MODE)';
  const INCOMPLETE: readonly (readonly [string, readonly string[], Record<string, string>, readonly string[]])[] = [
    ['a site ID without a secret (R-143)', [...SITE, ...DOMAINS], {}, [SECRETS_NAMES, `required with ${SITE_NAMES}`]],
    ['a site ID without domains (R-144)', SITE, SECRETS, [DOMAINS_NAMES, `required with ${SITE_NAMES}`]],
    ['secrets without a site ID (R-145)', DOMAINS, SECRETS, [SITE_NAMES, `required with ${SECRETS_NAMES}`]],
    ['a bad lifetime (R-146)', [...SITE, ...DOMAINS, '--redirect-token-ttl', '60'], SECRETS, [TTL_NAMES, '"60"']],
    ['a bad lifetime without a site ID too (R-154)', ['--redirect-token-ttl', 'x'], {}, [TTL_NAMES, '"x"']],
    ['static keys (R-151)', [...SITE, ...DOMAINS, '--auth-mode', 'api-key'], SECRETS, [AUTH_NAMES, 'static keys']],
  ];
  for (const [what, args, env, words] of INCOMPLETE) {
    it(`refuses ${what}, and names flag and variable`, async () => {
      assertRefused(await serve([...FREE_PORTS, ...args], { ...WITH_ADMIN, ...env }), words);
    });
  }

  it('tells no secret that it refuses (R-153)', async () => {
    const secret = 'too-short-but-secret';
    const site = ['--site-id', 'site-fr-1', '--redirect-allowed-domains', '.example.com'];
    const ended = await serve([...FREE_PORTS, ...site], {
      ...WITH_ADMIN,
      HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${secret}`,
    });
    assertRefused(ended, ['HIVENET_ROUTER_REDIRECT_SECRETS']);
    assert.doesNotMatch(ended.stderr.join('\n'), new RegExp(secret));
  });

  it('tells every mistake at once (E12)', async () => {
    const ended = await serve(['--http-port', 'everywhere', '--auth-mode', 'open', '--request-timeout', '1d']);
    assertRefused(
      ended,
      ['--http-port (HIVENET_ROUTER_HTTP_PORT)', '"everywhere"'],
      ['--auth-mode (HIVENET_ROUTER_AUTH_MODE)', '"open"', 'none, api-key, dynamic'],
      ['--request-timeout (HIVENET_ROUTER_REQUEST_TIMEOUT)', '"1d"'],
    );
  });

  it('starts with a warning for a variable that it does not know', async () => {
    const router = await startRouter([], { HIVENET_ROUTER_HTTP_PROT: ':1', HIVENET_ROUTER_AUTH_MODE: 'none' });
    const line = await router.line((text) => text.includes('HIVENET_ROUTER_HTTP_PROT'), 'stderr');
    assert.match(line, / WARN /);
    assert.equal(router.stderr.length, 1, router.stderr.join('\n'));
    await router.kill();
  });

  it('says where it listens in two lines, before anything else (E14)', async () => {
    const router = await startRouter([]);
    assert.match(router.stdout[0] ?? '', /^listening http http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.match(router.stdout[1] ?? '', /^listening metrics http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.equal((await fetch(`${router.url}/health`)).status, 200);
    assert.match(await (await fetch(`${router.metricsUrl}/metrics`)).text(), /^hivenet_router_build_info/m);
    await router.kill();
  });
});

describe('hivenet-router mock-engine', () => {
  it('refuses a start without models, an unknown flag and a port in use', async () => {
    const engine = (...args: readonly string[]) => run([BINARY, 'mock-engine', ...args]);
    assertRefused(await engine('--port', '0'), ['--models']);
    assertRefused(await engine('--port', '0', '--models', 'm', '--speed', '1'), ['--speed']);
    assertRefused(await engine('--port', takenAddress, '--models', 'm'), [takenAddress, 'in use']);
  });
});
