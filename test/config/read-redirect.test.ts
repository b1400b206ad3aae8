import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertLines, configOf, errorsOf, REDIRECT, warningsOf } from './reading.ts';

const SITE_ID = '--site-id (HIVENET_ROUTER_SITE_ID)';
const SECRETS = '--redirect-secret-file (HIVENET_ROUTER_REDIRECT_SECRETS)';
const DOMAINS = '--redirect-allowed-domains (HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS)';
const TTL = '--redirect-token-ttl (HIVENET_ROUTER_REDIRECT_TOKEN_TTL)';
const FILE = '/etc/hivenet-router/secrets';

const { HIVENET_ROUTER_SITE_ID: _site, ...WITHOUT_SITE } = REDIRECT;
const { HIVENET_ROUTER_REDIRECT_SECRETS: _secrets, ...WITHOUT_SECRETS } = REDIRECT;
const { HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS: _domains, ...WITHOUT_DOMAINS } = REDIRECT;

const withFile = (text: string, mode = 0o600) => ({
  args: ['--redirect-secret-file', FILE],
  files: { [FILE]: { text, mode } },
});

describe('readRedirect()', () => {
  it('is off without a site ID, also with an empty one by flag or variable (R-142)', () => {
    assert.equal(configOf({}).redirect, undefined);
    assert.equal(configOf({ env: { HIVENET_ROUTER_SITE_ID: '' } }).redirect, undefined);
    const { HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS } = REDIRECT;
    const env = { HIVENET_ROUTER_SITE_ID: 'site-fr-1', HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS };
    assert.equal(configOf({ args: ['--site-id='], env }).redirect, undefined);
  });

  it('is on with site ID, secrets and domains', () => {
    const { redirect } = configOf({ env: { ...REDIRECT, HIVENET_ROUTER_REDIRECT_TOKEN_TTL: '1m30s' } });
    assert.equal(redirect?.siteId, 'site-fr-1');
    assert.equal(redirect?.keyring.signing.id, 'k1');
    assert.equal(redirect?.tokenTtlMs, 90_000);
    assert.deepEqual(redirect?.allowedDomains, ['.example.com']);
  });

  it('takes flags before variables, for each of its settings (R-141)', () => {
    const env = { ...REDIRECT, HIVENET_ROUTER_REDIRECT_TOKEN_TTL: '2m' };
    const args = ['--site-id=site-flag', '--redirect-token-ttl=1m30s', '--redirect-allowed-domains=.flag.example'];
    const { redirect } = configOf({ args, env });
    assert.deepEqual(
      [redirect?.siteId, redirect?.tokenTtlMs, redirect?.allowedDomains],
      ['site-flag', 90_000, ['.flag.example']],
    );
    const fromEnv = configOf({ env }).redirect;
    assert.deepEqual([fromEnv?.siteId, fromEnv?.tokenTtlMs], ['site-fr-1', 120_000]);
  });

  it('refuses a site ID outside [A-Za-z0-9._-]{1,64} (R-142)', () => {
    for (const id of ['a', 'A.b_c-9', 'x'.repeat(64)]) {
      assert.equal(configOf({ env: REDIRECT, args: ['--site-id', id] }).redirect?.siteId, id);
    }
    for (const id of ['a b', 'é', 'x'.repeat(65), 'a/b', ' ']) {
      assertLines(errorsOf({ env: REDIRECT, args: ['--site-id', id] }), `${SITE_ID} "${id}": `);
    }
  });

  it('refuses a site ID without secrets, and names both (R-143)', () => {
    assertLines(errorsOf({ env: WITHOUT_SECRETS }), `${SECRETS}: required with ${SITE_ID}, for example --redirect-`);
  });

  it('refuses a site ID without allowed domains, and names both (R-144)', () => {
    assertLines(errorsOf({ env: WITHOUT_DOMAINS }), `${DOMAINS}: required with ${SITE_ID}, for example --redirect-`);
  });

  it('tells both when both are missing, also for a site ID that is bad itself', () => {
    assert.equal(errorsOf({ args: ['--site-id=s'] }).length, 2);
    assert.equal(errorsOf({ args: ['--site-id=a b'] }).length, 3);
    assert.equal(errorsOf({ args: ['--site-id'] }).length, 3);
  });

  it('refuses secrets without a site ID, from file or variable (R-145)', () => {
    assertLines(errorsOf({ env: WITHOUT_SITE }), `${SITE_ID}: required with ${SECRETS}`);
    assertLines(errorsOf({ args: ['--site-id='], env: REDIRECT }), `${SITE_ID}: required with ${SECRETS}`);
    assertLines(errorsOf(withFile(`k1:${'s'.repeat(32)}`)), `${SITE_ID}: required with ${SECRETS}`);
  });

  it('does not call the secrets orphans when the site ID is bad', () => {
    assertLines(errorsOf({ env: { ...REDIRECT, HIVENET_ROUTER_SITE_ID: 'a b' } }), `${SITE_ID} "a b": `);
    assertLines(errorsOf({ args: ['--site-id'], env: REDIRECT }), `${SITE_ID}: flag without a value`);
  });

  it('keeps the token lifetime from 1ms to 1h, and 60s without one (R-146)', () => {
    assert.equal(configOf({ env: REDIRECT }).redirect?.tokenTtlMs, 60_000);
    for (const [text, ms] of Object.entries({ '1h': 3_600_000, '1ms': 1, '1m30s': 90_000 })) {
      assert.equal(configOf({ env: REDIRECT, args: ['--redirect-token-ttl', text] }).redirect?.tokenTtlMs, ms);
    }
    for (const text of ['0', '-1s', '60', '1d', '1h1ns', '0.5ns', '999999ns']) {
      assertLines(errorsOf({ env: REDIRECT, args: [`--redirect-token-ttl=${text}`] }), `${TTL} "${text}": `);
    }
  });

  it('tells every bad domain and every bad secret at once (E12)', () => {
    const env = { ...REDIRECT, HIVENET_ROUTER_REDIRECT_SECRETS: 'k1:short,k1' };
    const errors = errorsOf({ env, args: ['--redirect-allowed-domains=a,.ok.example,.'] });
    assert.equal(errors.length, 2);
    assert.match(errors.join('\n'), /entry 1: [^;]*shorter than 32 bytes; entry 2: /);
    assert.match(errors.join('\n'), /"a,\.ok\.example,\.": entry 1: [^;]*; entry 3: /);
  });

  it('trims and lowers allowed domains, and refuses the list for one bad entry (R-147)', () => {
    const { redirect } = configOf({
      env: REDIRECT,
      args: ['--redirect-allowed-domains', '.A.example.com , .b.example'],
    });
    assert.deepEqual(redirect?.allowedDomains, ['.a.example.com', '.b.example']);
    for (const text of [
      '',
      'example.com',
      '.a.com,',
      ',.a.com',
      '.a.com,,.b.com',
      '.',
      '.*.a.com',
      '.a.com/',
      '.bü.com',
    ]) {
      const errors = errorsOf({ env: REDIRECT, args: [`--redirect-allowed-domains=${text}`] });
      assertLines(errors, `${DOMAINS} "${text}": entry `);
    }
  });

  it('reads the file alone when both are set (R-148)', () => {
    const file = withFile(`from-file:${'f'.repeat(32)}\r\nold:${'o'.repeat(31)},:\n`);
    const { redirect } = configOf({ ...file, env: REDIRECT });
    assert.equal(redirect?.keyring.signing.id, 'from-file');
    assert.deepEqual([...(redirect?.keyring.byId.keys() ?? [])], ['from-file', 'old']);
    const env = { ...REDIRECT, HIVENET_ROUTER_REDIRECT_SECRETS: 'bad' };
    assert.equal(configOf({ ...file, env }).redirect?.keyring.signing.id, 'from-file');
  });

  it('refuses an unreadable, empty or invalid file though the variable is valid (R-148)', () => {
    const unreadable = errorsOf({ args: ['--redirect-secret-file', FILE], env: REDIRECT });
    assertLines(unreadable, `${SECRETS} "${FILE}": cannot be read, no such file, for example `);
    for (const text of ['', '\n\n', `k1:${'s'.repeat(31)}`, `\u{FEFF}k1:${'s'.repeat(32)}`]) {
      assertLines(errorsOf({ ...withFile(text), env: REDIRECT }), `${SECRETS} "${FILE}": `);
    }
  });

  it('refuses an empty path', () => {
    assertLines(errorsOf({ args: ['--redirect-secret-file='], env: REDIRECT }), `${SECRETS}: not the path of a file`);
  });

  it('refuses a bad variable without showing it (R-149, R-153)', () => {
    for (const text of ['no-colon', `:${'s'.repeat(32)}`, `k1:${'s'.repeat(31)}`, `k1:${'s'.repeat(32)},`]) {
      const errors = errorsOf({ env: { ...REDIRECT, HIVENET_ROUTER_REDIRECT_SECRETS: text } });
      assertLines(errors, `${SECRETS}: `);
      assert.ok(errors[0]?.endsWith('for example HIVENET_ROUTER_REDIRECT_SECRETS=k1:$(openssl rand -hex 32)'));
    }
  });

  it('refuses a bad lifetime and bad domains without a site ID too, and lets good ones be (R-154)', () => {
    assertLines(errorsOf({ args: ['--redirect-token-ttl=x'] }), `${TTL} "x": `);
    assertLines(errorsOf({ args: ['--redirect-allowed-domains=x'] }), `${DOMAINS} "x": `);
    const args = ['--redirect-token-ttl=30m', '--redirect-allowed-domains=.com'];
    assert.equal(configOf({ args }).redirect, undefined);
    assert.deepEqual(warningsOf({ args }), []);
  });

  it('warns of a file that everyone on the machine may read (D-53)', () => {
    const text = `k1:${'s'.repeat(32)}`;
    const env = WITHOUT_SECRETS;
    for (const mode of [0o600, 0o640, 0o660]) assert.deepEqual(warningsOf({ ...withFile(text, mode), env }), []);
    for (const mode of [0o604, 0o644, 0o666]) {
      assert.deepEqual(warningsOf({ ...withFile(text, mode), env }), [
        `${SECRETS}: everyone on this machine may read the file, set its mode to 600`,
      ]);
    }
  });

  it('warns of a lifetime above 5m (D-44)', () => {
    const warnings = (text: string) => warningsOf({ env: REDIRECT, args: ['--redirect-token-ttl', text] });
    assert.deepEqual(warnings('5m'), []);
    assert.deepEqual(warnings('5m1ms'), [`${TTL}: above 5m a stolen URL stays useful for long`]);
  });

  it('warns of each domain of a single label (2.7)', () => {
    const warnings = (text: string) => warningsOf({ env: REDIRECT, args: ['--redirect-allowed-domains', text] });
    assert.deepEqual(warnings('.a.com,.b.c.com'), []);
    assert.deepEqual(warnings('.a.com,.com,.lan'), [
      `${DOMAINS}: ".com" lets in a whole top-level domain`,
      `${DOMAINS}: ".lan" lets in a whole top-level domain`,
    ]);
  });
});
