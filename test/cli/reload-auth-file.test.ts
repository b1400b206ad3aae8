// SIGHUP and the auth file, from the file to whoever asks (E13, R-152).

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { authenticate, type ClientAuth } from '../../src/auth/authenticate.ts';
import { StaticKeys } from '../../src/auth/static-keys.ts';
import { authFileReload } from '../../src/cli/reload-auth-file.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { BUILT_IN_POLICY } from '../../src/policy/policy.ts';
import { PolicyStore } from '../../src/policy/store.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { NOW_MS, sha256Hex } from '../auth/key-builder.ts';
import { configOf, REDIRECT } from '../config/reading.ts';

const folder = mkdtempSync(join(tmpdir(), 'auth-file-'));
const path = join(folder, 'auth.yaml');
after(() => rmSync(folder, { recursive: true }));

const keyed = (secret: string, more = '') =>
  `api:\n  mode: api-key\n  keys:\n    - {key_hash: ${sha256Hex(secret)}, metadata: {name: n, owner: o}${more}}\n`;

/** A router that started with `text` in its auth file. */
function started(text: string, env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const log = createLog(
    () => 0,
    (line) => void lines.push(line),
  );
  const config = configOf({ args: ['--auth-config-file', path], env, files: { [path]: { text, mode: 0o644 } } });
  const auth: ClientAuth =
    config.auth.mode === 'api-key' ? { mode: 'api-key', keys: new StaticKeys(config.auth.keys) } : { mode: 'none' };
  const policies = new PolicyStore();
  const [thing] = authFileReload(config, { auth, policies, log });
  assert.ok(thing);
  const reload = (changed: string) => {
    writeFileSync(path, changed);
    return thing.reload();
  };
  const admits = (secret: string) =>
    authenticate(auth, { tokens: [], authorization: secret, apiKey: undefined }, NOW_MS) !== undefined;
  return { reload, admits, lines, policies };
}

describe('authFileReload()', () => {
  it('has nothing to do without a file', () => {
    const log = createLog(
      () => 0,
      () => undefined,
    );
    assert.deepEqual(authFileReload(configOf({}), { auth: { mode: 'none' }, policies: new PolicyStore(), log }), []);
  });

  it('puts all keys in the place of the old ones', async () => {
    const { reload, admits } = started(keyed('old'));
    assert.deepEqual([admits('old'), admits('new')], [true, false]);
    assert.deepEqual(await reload(keyed('new')), ok({ mode: 'api-key', count: 1 }));
    assert.deepEqual([admits('old'), admits('new')], [false, true]);
  });

  it('keeps the old keys when anything is wrong', async () => {
    const { reload, admits } = started(keyed('old'));
    for (const text of ['', keyed('new', ', models: 7'), 'api: {mode: none}']) {
      const outcome = await reload(text);
      assert.ok(!outcome.ok && outcome.fault.length === 1);
      assert.deepEqual([admits('old'), admits('new')], [true, false]);
    }
  });

  it('keeps the old keys when a new one contradicts a policy (api.md 9)', async () => {
    const { reload, admits, policies } = started(keyed('old'));
    const limits = { ...BUILT_IN_POLICY.limits, maxInputTokens: 100 };
    policies.replaceGlobal({ ...BUILT_IN_POLICY, mode: 'serverless', limits });
    const contradiction =
      'key "n": input_tokens_per_minute 99 must be at least max_input_tokens 100 of the global policy';
    const quota = (tokens: number) => `, quota: {input_tokens_per_minute: ${tokens}}`;
    assert.deepEqual(await reload(keyed('new', quota(99))), fault([contradiction]));
    assert.deepEqual([admits('old'), admits('new')], [true, false]);
    assert.ok((await reload(keyed('new', quota(100)))).ok);
  });

  it('brings no static keys to a site that redirects (R-152)', async () => {
    const { reload, admits } = started('api: {mode: none}', REDIRECT);
    const outcome = await reload(keyed('new'));
    assert.ok(!outcome.ok && outcome.fault[0]?.includes('no key ID that a sibling could resolve'));
    assert.equal(admits('whoever'), true);
  });

  it('logs what is odd, and no key', async () => {
    const { reload, lines } = started(keyed('old'));
    assert.ok((await reload(`${keyed('new', ', sk-CANARY: 1')}version: 1\n`)).ok);
    assert.equal(lines.length, 2);
    assert.ok(lines.every((line) => line.includes('unknown field') && !line.includes('CANARY')));
  });
});
