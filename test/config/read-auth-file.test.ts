import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuthAtStart, rereadAuthFile } from '../../src/config/read-auth-file.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { sha256Hex } from '../auth/key-builder.ts';
import { assertLines, configOf, errorsOf, type Given, REDIRECT, warningsOf } from './reading.ts';

const NAME = '--auth-config-file (HIVENET_ROUTER_AUTH_CONFIG)';
const STATIC_RULE = 'api.mode api-key: not with --site-id (HIVENET_ROUTER_SITE_ID), as static keys have no key ID';
const NO_ADMIN = { HIVENET_ROUTER_ADMIN_API_KEYS: '' };
const INSECURE = { ...NO_ADMIN, HIVENET_ROUTER_ALLOW_INSECURE_ADMIN: 'true' };

const keyed = (...secrets: readonly string[]) =>
  `api:\n  mode: api-key\n  keys:\n${secrets
    .map((secret) => `    - {key_hash: ${sha256Hex(secret)}, metadata: {name: n, owner: of-${secret}}}\n`)
    .join('')}`;

/** A router with this auth file, beside what `more` gives. */
function given(text: string, { args = [], env = {} }: Given = {}): Given {
  return { args: ['--auth-config-file', 'auth.yaml', ...args], env, files: { 'auth.yaml': { text, mode: 0o644 } } };
}

describe('readAuthFile()', () => {
  it('takes mode and keys from the file, named by flag or variable', () => {
    const { auth } = configOf(given(keyed('a', 'b')));
    assert.deepEqual(
      [auth.mode, auth.file, auth.keys.map(({ owner }) => owner)],
      ['api-key', 'auth.yaml', ['of-a', 'of-b']],
    );
    assert.ok(Object.isFrozen(auth.keys) && Object.isFrozen(auth.keys[0]));
    const files = { f: { text: 'api: {mode: dynamic}', mode: 0o644 } };
    const byVariable = configOf({ env: { HIVENET_ROUTER_AUTH_CONFIG: 'f' }, files }).auth;
    assert.deepEqual(byVariable, { mode: 'dynamic', file: 'f', keys: [] });
  });

  it('refuses a key that contradicts a policy, by its name (api.md 9)', () => {
    const policy = 'mode: serverless\nmax_input_tokens: 100\nrouting_policy: {}';
    const contradicting = (tokens: number): Given => {
      const text = keyed('a').replace('of-a}', `of-a}, quota: {input_tokens_per_minute: ${tokens}}`);
      const { files, args } = given(text, { args: ['--policy-file', 'p.yaml'] });
      return { args: args ?? [], files: { ...files, 'p.yaml': { text: policy, mode: 0o644 } } };
    };
    assertLines(
      errorsOf(contradicting(99)),
      `${NAME} "auth.yaml": key "n": input_tokens_per_minute 99 must be at least max_input_tokens 100`,
    );
    assert.deepEqual(errorsOf(contradicting(100)), []);
  });

  it('lets the file win over --auth-mode, with a warning where they differ', () => {
    const differing = given('{}', { env: { HIVENET_ROUTER_AUTH_MODE: 'dynamic' } });
    assert.equal(configOf(differing).auth.mode, 'none');
    assert.deepEqual(warningsOf(differing), [
      '--auth-mode (HIVENET_ROUTER_AUTH_MODE): ignored, the auth file says "none"',
    ]);
    assert.deepEqual(warningsOf(given(keyed('a'), { args: ['--auth-mode', 'api-key'] })), []);
  });

  it('refuses a file that is not there, and everything wrong in one', () => {
    assertLines(errorsOf({ args: ['--auth-config-file', 'lost'] }), `${NAME} "lost": cannot be read, no such file`);
    assertLines(
      errorsOf(given('api: {mode: x}\nadmin: {mode: y}')),
      `${NAME} "auth.yaml": line 1, column 7: api.mode: must be one of`,
      `${NAME} "auth.yaml": line 2, column 9: admin.mode: must be`,
    );
  });

  it('refuses static keys with a site ID, and no other mode (R-151)', () => {
    assertLines(errorsOf(given(keyed('a'), { env: REDIRECT })), `${NAME} "auth.yaml": ${STATIC_RULE}`);
    for (const mode of ['none', 'dynamic']) {
      assert.ok(configOf(given(`api: {mode: ${mode}}`, { env: REDIRECT })).redirect !== undefined);
    }
  });

  it('passes warnings of the file on', () => {
    assert.deepEqual(warningsOf(given(`${keyed('a')}version: 1\n`)), [
      `${NAME}: line 5, column 1: version: unknown field, ignored`,
    ]);
  });
});

describe('the admin keys beside an auth file (api.md §11)', () => {
  const KEYS = 'HIVENET_ROUTER_ADMIN_API_KEYS: required';
  it('are required by admin.mode api-key and by mode dynamic, whatever permits to go without', () => {
    const admin = 'admin: {mode: api-key}';
    assertLines(errorsOf(given(admin, { env: INSECURE })), `${KEYS} by admin.mode in ${NAME} "auth.yaml"`);
    const dynamic = errorsOf(given('api: {mode: dynamic}', { env: INSECURE }));
    assertLines(dynamic, `${KEYS} by api.mode "dynamic" in ${NAME} "auth.yaml": API keys come in through /admin`);
    assert.equal(configOf(given(admin)).admin.mode, 'api-key');
  });

  it('are required otherwise too, unless it is permitted to go without', () => {
    for (const text of ['{}', 'admin: {mode: none}', keyed('a')]) {
      assertLines(errorsOf(given(text, { env: NO_ADMIN })), `${KEYS}, unless`);
      assert.equal(configOf(given(text, { env: INSECURE })).admin.mode, 'insecure');
      assert.equal(configOf(given(text)).admin.mode, 'api-key');
    }
  });
});

describe('rereadAuthFile()', () => {
  const STATIC: AuthAtStart = { mode: 'api-key', isRedirectOn: false, hasAdminKeys: true };
  const reread = (text: string | undefined, start: AuthAtStart = STATIC) =>
    rereadAuthFile('f', start, () => (text === undefined ? fault('no such file') : ok({ text, mode: 0o644 })));
  const refusals = (text: string | undefined, start?: AuthAtStart) => {
    const read = reread(text, start);
    return read.ok ? [] : read.fault;
  };

  it('gives the new keys, and what is odd about them', () => {
    const read = reread(`${keyed('a', 'b')}version: 1\n`);
    assert.ok(read.ok);
    assert.deepEqual(
      read.value.keys.map(({ owner }) => owner),
      ['of-a', 'of-b'],
    );
    assert.equal(read.value.warnings.length, 1);
  });

  it('refuses static keys while cross-site redirect is on (R-152, D-07)', () => {
    for (const mode of ['dynamic', 'none'] as const) {
      const start = { mode, isRedirectOn: true, hasAdminKeys: true };
      assertLines(refusals(keyed('a'), start), `${NAME} "f": ${STATIC_RULE}`);
      assert.deepEqual(refusals(`api: {mode: ${mode}}`, start), []);
    }
  });

  it('refuses any other mode than that of the start, in each direction', () => {
    const texts = { none: '{}', 'api-key': keyed('a'), dynamic: 'api: {mode: dynamic}' };
    for (const mode of ['none', 'api-key', 'dynamic'] as const) {
      for (const [other, text] of Object.entries(texts)) {
        const told = refusals(text, { ...STATIC, mode });
        if (other === mode) assert.deepEqual(told, []);
        else assertLines(told, `${NAME} "f": api.mode ${other}: was ${mode}, which only a restart changes`);
      }
    }
  });

  it('refuses a file that asks for admin keys where there are none', () => {
    const start: AuthAtStart = { mode: 'none', isRedirectOn: false, hasAdminKeys: false };
    assertLines(refusals('admin: {mode: api-key}', start), `${NAME} "f": admin.mode api-key: needs`);
    assert.deepEqual(refusals('admin: {mode: none}', start), []);
  });

  it('refuses a file that is gone or wrong, as at the start', () => {
    assertLines(refusals(undefined), `${NAME} "f": cannot be read, no such file`);
    assertLines(refusals(''), `${NAME} "f": line 1, column 1: document: must be an object`);
  });
});
