import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createAuthority, type Identity } from '../support/authority.ts';
import { assertLines, configOf, errorsOf, type Given, warningsOf } from './reading.ts';

const CERT = '--tls-cert-file (HIVENET_ROUTER_TLS_CERT_FILE)';
const KEY = '--tls-key-file (HIVENET_ROUTER_TLS_KEY_FILE)';

describe('readTls()', () => {
  let own: Identity;
  let other: Identity;

  before(async () => {
    const authority = await createAuthority();
    own = await authority.issue('a.example.com');
    other = await authority.issue('b.example.com');
  });

  const given = (cert: string, key: string, keyMode = 0o600): Given => ({
    args: ['--tls-cert-file', 'tls.crt', '--tls-key-file', 'tls.key'],
    files: { 'tls.crt': { text: cert, mode: 0o644 }, 'tls.key': { text: key, mode: keyMode } },
  });

  it('reads certificate and key', () => {
    assert.deepEqual(configOf(given(own.cert, own.key)).http.tls, {
      certFile: 'tls.crt',
      keyFile: 'tls.key',
      cert: own.cert,
      key: own.key,
    });
    assert.ok(Object.isFrozen(configOf(given(own.cert, own.key)).http.tls));
  });

  it('takes a chain, whose first certificate is the own', () => {
    assert.ok(configOf(given(`${own.cert}\n${other.cert}`, own.key)).http.tls !== undefined);
    assert.equal(errorsOf(given(`${other.cert}\n${own.cert}`, own.key)).length, 1);
  });

  it('names no file whose name looks like what should be in it (R-153)', () => {
    const name = 'k1:secret';
    const file = { text: 'no PEM', mode: 0o600 };
    const errors = errorsOf({ args: ['--tls-cert-file', name, '--tls-key-file', name], files: { [name]: file } });
    assert.deepEqual(errors, [`${CERT}: holds no PEM certificate`, `${KEY}: holds no PEM private key`]);
  });

  it('refuses one without the other', () => {
    const { args = [], files = {} } = given(own.cert, own.key);
    const withoutKey = errorsOf({ args: args.slice(0, 2), files });
    assert.deepEqual(withoutKey, [
      `${KEY}: required with ${CERT}, for example --tls-key-file /etc/hivenet-router/tls.key`,
    ]);
    const withoutCert = errorsOf({ args: args.slice(2), files });
    assert.deepEqual(withoutCert, [
      `${CERT}: required with ${KEY}, for example --tls-cert-file /etc/hivenet-router/tls.crt`,
    ]);
  });

  it('refuses files that cannot be read, both at once', () => {
    const { args = [] } = given('', '');
    const errors = errorsOf({ args });
    const state = 'cannot be read, no such file';
    assertLines(errors, `${CERT} "tls.crt": ${state}`, `${KEY} "tls.key": ${state}`);
  });

  it('refuses files that hold something else, both at once', () => {
    const starts = [`${CERT} "tls.crt": holds no PEM certificate`, `${KEY} "tls.key": holds no PEM private key`];
    assertLines(errorsOf(given(own.key, own.cert)), ...starts);
    assertLines(errorsOf(given('', '')), ...starts);
  });

  it('refuses the key of another certificate', () => {
    assertLines(errorsOf(given(own.cert, other.key)), `${KEY} "tls.key": not the key of the certificate`);
  });

  it('warns of a key that everyone on the machine may read, and of no certificate', () => {
    assert.deepEqual(warningsOf(given(own.cert, own.key)), []);
    assert.deepEqual(warningsOf(given(own.cert, own.key, 0o644)), [
      `${KEY}: everyone on this machine may read the file, set its mode to 600`,
    ]);
  });

  it('shows no key that was put in place of its path', () => {
    const errors = errorsOf({ env: { HIVENET_ROUTER_TLS_CERT_FILE: own.cert, HIVENET_ROUTER_TLS_KEY_FILE: own.key } });
    assert.equal(errors.length, 2);
    const [, line = ''] = own.key.split('\n');
    assert.ok(!errors.join('\n').includes(line.slice(0, 8)));
  });
});
