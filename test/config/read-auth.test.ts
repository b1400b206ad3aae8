import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertLines, configOf, errorsOf, REDIRECT, warningsOf } from './reading.ts';

const ADMIN_KEYS = 'HIVENET_ROUTER_ADMIN_API_KEYS';
const INSECURE = 'HIVENET_ROUTER_ALLOW_INSECURE_ADMIN';
const AUTH_MODE = '--auth-mode (HIVENET_ROUTER_AUTH_MODE)';

const shown = (key: string) => ({ tokens: [], authorization: `Bearer ${key}`, apiKey: undefined });

describe('readClientAuth()', () => {
  it('names the modes that work', () => {
    assertLines(
      errorsOf({ args: ['--auth-mode', 'jwt'] }),
      `${AUTH_MODE} "jwt": not one of none, api-key, dynamic, for example `,
    );
  });

  it('refuses api-key without an auth file', () => {
    assertLines(
      errorsOf({ args: ['--auth-mode', 'api-key'] }),
      `${AUTH_MODE} "api-key": needs keys, which are given by --auth-config-file (HIVENET_ROUTER_AUTH_CONFIG)`,
    );
  });

  it('refuses api-key with a site ID for the reason that an auth file does not change (R-151)', () => {
    for (const mode of ['dynamic', 'none']) {
      assert.ok(configOf({ args: ['--auth-mode', mode], env: REDIRECT }).redirect !== undefined);
    }
    assertLines(
      errorsOf({ args: ['--auth-mode', 'api-key'], env: REDIRECT }),
      `${AUTH_MODE} "api-key": not with --site-id (HIVENET_ROUTER_SITE_ID), as static keys have no key ID`,
    );
  });
});

describe('readAdmin()', () => {
  it('takes the keys, separated by commas, trimmed, empty ones dropped', () => {
    for (const mode of ['none', 'dynamic']) {
      const { admin } = configOf({ args: ['--auth-mode', mode], env: { [ADMIN_KEYS]: ' first ,, second,' } });
      assert.ok(admin.mode === 'api-key');
      assert.ok(admin.keys.matches(shown('first')));
      assert.ok(admin.keys.matches(shown('second')));
      assert.ok(!admin.keys.matches(shown('third')));
    }
  });

  it('refuses to start without keys, in either mode, and names what is missing', () => {
    for (const text of [undefined, '']) {
      for (const mode of ['none', 'dynamic']) {
        const errors = errorsOf({ args: ['--auth-mode', mode], env: { [ADMIN_KEYS]: text } });
        assertLines(errors, `${ADMIN_KEYS}: required`);
        assert.ok(errors[0]?.endsWith(`for example ${ADMIN_KEYS}=$(openssl rand -hex 32)`));
      }
    }
  });

  it('refuses keys of which nothing is left, and duplicates, also with the permission to go without', () => {
    for (const text of [',', '  ', ' , ,', 'same,same', 'a, same , same']) {
      const errors = errorsOf({ env: { [ADMIN_KEYS]: text, [INSECURE]: 'true' } });
      assertLines(errors, `${ADMIN_KEYS}: `);
    }
  });

  it('warns of a key below 16 characters, and tells neither the key nor its length', () => {
    const long = 'k'.repeat(16);
    assert.deepEqual(warningsOf({ env: { [ADMIN_KEYS]: `${long}, ${long}2 ,` } }), []);
    for (const text of ['k'.repeat(15), `${long},short`]) {
      assert.deepEqual(warningsOf({ env: { [ADMIN_KEYS]: text } }), [
        `${ADMIN_KEYS}: a key shorter than 16 characters can be guessed`,
      ]);
    }
  });

  it('opens up without keys when a Go boolean says so, and then says it loudly (D-56)', () => {
    for (const text of ['1', 't', 'T', 'true', 'True', 'TRUE']) {
      for (const env of [{}, REDIRECT]) {
        const given = { env: { ...env, [ADMIN_KEYS]: '', [INSECURE]: text } };
        assert.deepEqual(configOf(given).admin, { mode: 'insecure' });
        assert.match(
          warningsOf(given).join('\n'),
          /^HIVENET_ROUTER_ALLOW_INSECURE_ADMIN: ADMIN IS OPEN, .*sibling map$/,
        );
      }
    }
  });

  it('stays closed when it says no, and when it says nothing that Go understands', () => {
    for (const text of ['0', 'f', 'F', 'false', 'False', 'FALSE']) {
      assert.equal(errorsOf({ env: { [ADMIN_KEYS]: '', [INSECURE]: text } }).length, 1, text);
    }
    for (const text of ['yes', 'on', 'tRUE', ' true', '2']) {
      const errors = errorsOf({ env: { [ADMIN_KEYS]: '', [INSECURE]: text } });
      assert.ok(
        errors.some((error) => error.startsWith(`${INSECURE} "${text}": not a boolean`)),
        text,
      );
      assert.equal(errorsOf({ env: { [INSECURE]: text } }).length, 1, text);
    }
  });

  it('never opens up in mode dynamic, whose keys come in through /admin (api.md §11)', () => {
    assertLines(
      errorsOf({
        args: ['--auth-mode', 'dynamic'],
        env: { [ADMIN_KEYS]: '', [INSECURE]: 'true' },
      }),
      `${ADMIN_KEYS}: required with ${AUTH_MODE} "dynamic": API keys come in through /admin`,
    );
  });

  it('takes keys over the permission to go without', () => {
    const given = { env: { [INSECURE]: 'true' } };
    assert.equal(configOf(given).admin.mode, 'api-key');
    assert.deepEqual(warningsOf(given), []);
  });
});
