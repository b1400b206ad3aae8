import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertLines, configOf, errorsOf, REDIRECT, warningsOf } from './reading.ts';

const URL_NAME = '--wake-webhook-url (HIVENET_ROUTER_WAKE_WEBHOOK_URL)';
const SECRET_NAME = '--wake-webhook-secret-file (HIVENET_ROUTER_WAKE_WEBHOOK_SECRET_FILE)';
const FILE = '/etc/hivenet-router/wake-secret';
const SECRET = 'a-secret-of-32-bytes-or-somewhat';

const withSecret = (text: string, mode = 0o600) => ({
  args: ['--wake-webhook-url', 'https://scaler.example.com/wake', '--wake-webhook-secret-file', FILE],
  files: { [FILE]: { text, mode } },
});

describe('readHold()', () => {
  const bounds: readonly (readonly [flag: string, good: Readonly<Record<string, number>>, bad: readonly string[]])[] = [
    ['--wake-hold-budget', { '0': 0, '0s': 0, '120s': 120_000, '1h': 3_600_000 }, ['1h1ns', '-1s', '240', '1d', '']],
    ['--wake-hold-max', { '1': 1, '100000': 100_000 }, ['0', '100001', '1.5', '-1']],
    ['--wake-hold-max-bytes', { '1': 1, '1099511627776': 1_099_511_627_776 }, ['0', '1099511627777', '1MiB']],
  ];
  for (const [flag, good, bad] of bounds) {
    it(`takes ${flag} within its bounds only`, () => {
      for (const [text, value] of Object.entries(good)) {
        assert.ok(Object.values(configOf({ args: [flag, text] }).hold).includes(value), text);
      }
      for (const text of bad) assertLines(errorsOf({ args: [`${flag}=${text}`] }), `${flag} (HIVENET_ROUTER_`);
    });
  }

  it('warns of bodies that are never held, at one byte less than twice the largest, where anything is', () => {
    const args = (bytes: number) => ['--max-request-bytes', '1000', '--wake-hold-max-bytes', String(bytes)];
    assert.deepEqual(warningsOf({ args: args(1_999) }), []);
    assert.deepEqual(warningsOf({ args: args(2_000), env: REDIRECT }), []);
    assertLines(
      warningsOf({ args: args(1_999), env: REDIRECT }),
      '--wake-hold-max-bytes (HIVENET_ROUTER_WAKE_HOLD_MAX_BYTES): less than twice --max-request-bytes',
    );
  });

  it('calls nobody unless it is told whom', () => {
    assert.equal(configOf({ env: REDIRECT }).hold.webhook, undefined);
  });

  it('takes an http or https URL, and shows its credentials in a header instead (RFC 7617)', () => {
    const webhookOf = (url: string) => configOf({ args: ['--wake-webhook-url', url] }).hold.webhook;
    assert.deepEqual(webhookOf('http://10.0.0.9:9000'), {
      url: 'http://10.0.0.9:9000/',
      authorization: undefined,
      secret: undefined,
    });
    assert.deepEqual(webhookOf('https://me:p%40ss%C3%A9@scaler.example.com/wake?pool=a#here'), {
      url: 'https://scaler.example.com/wake?pool=a',
      authorization: `Basic ${Buffer.from('me:p@ssé').toString('base64')}`,
      secret: undefined,
    });
  });

  it('refuses any other URL without repeating it: it may hold what opens it', () => {
    const long = `https://scaler.example.com/${'x'.repeat(2_048)}`;
    for (const url of [
      'scaler.example.com/canary',
      'ftp://me:canary@h/',
      'file:///canary',
      'https://%E9:canary@h/',
      long,
    ]) {
      const errors = errorsOf({ args: ['--wake-webhook-url', url] });
      assertLines(errors, `${URL_NAME}: `);
      assert.doesNotMatch(errors.join(), /canary|xxx/);
    }
  });

  it('signs with the secret in a file, without the blanks at its ends', () => {
    assert.equal(configOf(withSecret(`${SECRET}\n`)).hold.webhook?.secret, SECRET);
    assert.deepEqual(warningsOf(withSecret(SECRET)), []);
  });

  it('warns of a secret that everyone may read, and of calls that nobody signs', () => {
    assertLines(warningsOf(withSecret(SECRET, 0o644)), `${SECRET_NAME}: everyone on this machine may read`);
    const unsigned = warningsOf({ args: ['--wake-webhook-url', 'https://h/'] });
    assert.deepEqual(unsigned, [`${URL_NAME}: calls are not signed without ${SECRET_NAME}`]);
  });

  it('refuses a secret of less than 32 bytes, an empty one, and a file that is not there', () => {
    assert.deepEqual(errorsOf(withSecret('é'.repeat(16))), []);
    for (const text of ['x'.repeat(31), ` ${'x'.repeat(31)}\n`, '']) {
      const errors = errorsOf(withSecret(text));
      assert.deepEqual(errors, [`${SECRET_NAME} "${FILE}": holds a secret of less than 32 bytes`]);
    }
    const missing = errorsOf({ ...withSecret(SECRET), files: {} });
    assertLines(missing, `${SECRET_NAME} "${FILE}": cannot be read, no such file`);
  });

  it('refuses a secret for calls that nobody gets', () => {
    const { files } = withSecret(SECRET);
    const errors = errorsOf({ args: ['--wake-webhook-secret-file', FILE], files });
    assertLines(errors, `${URL_NAME}: required with ${SECRET_NAME}`);
  });
});
