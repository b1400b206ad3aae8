import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { quote, quotePath } from '../../src/config/setting.ts';
import { SETTING_ROWS } from '../../src/config/settings.ts';
import { ADMIN, type Given, REDIRECT, read } from './reading.ts';

/** Everything that a start would print. */
function messagesOf(given: Given): readonly string[] {
  const reading = read(given);
  return reading.ok ? reading.value.warnings : reading.fault;
}

describe('messages', () => {
  /** A secret that no message holds by chance. */
  const canary = fc.stringMatching(/^[A-Za-z0-9+/=.-]{0,40}$/).map((text) => `Zq${text}qZ`);
  const separator = fc.constantFrom(',', ':', '\n', ' ', '', '\r\n', '"', ',,', '\u{FEFF}');
  const garbled = fc
    .tuple(canary, separator, fc.constantFrom('', 'k1:', 'k.1:', ':', 'k1 '))
    .map(([secret, between, prefix]) => ({ secret, text: `${prefix}${secret}${between}${prefix}${secret}` }));

  it('hold no secret, wherever secrets belong and however they are written (R-153)', () =>
    fc.assert(
      fc.property(garbled, fc.constantFrom('', 'site-fr-1', 'a b'), ({ secret, text }, siteId) => {
        const HIVENET_ROUTER_SITE_ID = siteId;
        const places: readonly Given[] = [
          { env: { ...REDIRECT, HIVENET_ROUTER_SITE_ID, HIVENET_ROUTER_REDIRECT_SECRETS: text } },
          { env: { ...REDIRECT, HIVENET_ROUTER_SITE_ID, HIVENET_ROUTER_ADMIN_API_KEYS: text } },
          {
            args: ['--redirect-secret-file', '/s'],
            files: { '/s': { text, mode: 0o644 } },
            env: { HIVENET_ROUTER_SITE_ID },
          },
          { env: { HIVENET_ROUTER_JWT_SECRET: text, HIVENET_ROUTER_OPENAI_API_KEY: text, HIVENET_ROUTER_NEW: text } },
          { args: ['--auth-config-file', '/s'], files: { '/s': { text, mode: 0o644 } } },
          { args: ['--anthropic-api-key-file', '/s'], files: { '/s': { text, mode: 0o644 } } },
          { args: ['--tls-cert-file', '/s', '--tls-key-file', '/s'], files: { '/s': { text, mode: 0o644 } } },
        ];
        for (const place of places) for (const line of messagesOf(place)) assert.ok(!line.includes(secret), line);
      }),
      { numRuns: 200 },
    ));

  it('hold no secret that was typed where it does not belong (R-153)', () => {
    const secret = 'Zq0123456789abcdefghijklmnopqrstuvwxyzqZ';
    const places: readonly Given[] = [
      { args: [secret] },
      { args: ['--http-port=:1', `k1:${secret}`] },
      { args: [`--redirect-secrets=k1:${secret}`] },
      { args: ['--redirect-secrets', `k1:${secret}`] },
      { args: [`--redirect-secret-file=k1:${secret}`] },
      { args: [`--redirect-secret-file=${secret}`] },
      { args: [`--openai-api-key-file=${secret}`] },
      { args: [`--engine=vllm=http://user:${secret}@10.0.0.5:8000`] },
      { args: [`--engine=vllm=http:user:${secret}@10.0.0.5:8000`] },
      { args: [`--engine=vllm=user:${secret}=/x@10.0.0.5:8000`] },
      { args: [`--engine=http://user:${secret}@10.0.0.5:8000`] },
    ];
    for (const place of places) {
      const lines = messagesOf({ ...place, env: REDIRECT });
      assert.ok(lines.length > 0);
      for (const line of lines) assert.ok(!line.includes('Zq') && !line.includes('qZ'), line);
    }
  });

  const names = SETTING_ROWS.map((row) => row.variable);
  const anyEnv = fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 200 }), {
    maxKeys: 5,
  });
  const anyWord = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('--http-port', '--engine', '-', '--'));

  it('are one printable line each, whatever was written', () =>
    fc.assert(
      fc.property(anyEnv, fc.array(anyWord), (env, args) => {
        for (const line of messagesOf({ env: { ...ADMIN, ...env }, args })) {
          assert.match(line, /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+$/u);
          assert.ok(line.length < 500, line);
        }
      }),
      { numRuns: 500 },
    ));
});

describe('quote()', () => {
  it('quotes, escapes and shortens', () => {
    assert.equal(quote('a "b"\n'), '"a \\"b\\"\\n"');
    assert.equal(quote('x'.repeat(80)), `"${'x'.repeat(80)}"`);
    assert.equal(quote('x'.repeat(81)), `"${'x'.repeat(80)}…"`);
    assert.equal(quote('\u0085\u2028\u{D800}'), '"??\u{FFFD}"');
  });

  it('hides whatever may be credentials of a URL', () => {
    assert.equal(quote('vllm=http://u:p@h:1'), '"vllm=(hidden)@h:1"');
    assert.equal(quote('http://u:p@q@h:1'), '"(hidden)@h:1"');
  });
});

describe('quotePath()', () => {
  it('shows paths', () => {
    for (const path of [
      '/etc/hivenet-router/redirect-secrets',
      'tls.key',
      './x',
      'x'.repeat(31),
      `${'x'.repeat(40)}.pem`,
    ]) {
      assert.equal(quotePath(path), JSON.stringify(path));
    }
  });

  it('hides what looks like the contents of the file', () => {
    for (const text of ['k1:secret', 'x'.repeat(32), '-----BEGIN PRIVATE KEY-----', 'a\nb']) {
      assert.equal(quotePath(text), undefined, text);
    }
  });
});
