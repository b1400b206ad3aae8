import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertLines, configOf, errorsOf, warningsOf } from './reading.ts';

const PROVIDERS = [
  { name: 'openai', variable: 'HIVENET_ROUTER_OPENAI', url: 'https://api.openai.com/v1' },
  { name: 'anthropic', variable: 'HIVENET_ROUTER_ANTHROPIC', url: 'https://api.anthropic.com' },
] as const;

const FILE = '/etc/hivenet-router/key';
const SECRET = 'sk-very-secret';

for (const { name, variable, url } of PROVIDERS) {
  const keyFlag = `--${name}-api-key-file`;
  const keyName = `${keyFlag} (${variable}_API_KEY)`;
  const urlFlag = `--${name}-base-url`;
  const withFile = (text: string, mode = 0o600) => ({ args: [keyFlag, FILE], files: { [FILE]: { text, mode } } });
  const keyed = { [`${variable}_API_KEY`]: SECRET };

  describe(`readProviders(), ${name}`, () => {
    it('is there with a key alone, asked where its SDK asks', () => {
      assert.deepEqual(configOf({}).providers, { openai: undefined, anthropic: undefined });
      assert.deepEqual(configOf({ env: keyed }).providers[name], { baseUrl: url, apiKey: SECRET });
    });

    it('reads the key of a file, without its line feed, and rather than the variable', () => {
      const { providers } = configOf({ ...withFile(`${SECRET}-2\n`), env: keyed });
      assert.equal(providers[name]?.apiKey, `${SECRET}-2`);
    });

    it('warns of a file that everyone may read', () => {
      assertLines(warningsOf(withFile(SECRET, 0o644)), `${keyName}: everyone on this machine may read the file`);
    });

    it('refuses what no header can hold, and never shows it', () => {
      for (const text of ['', 'two\nkeys', 'k\u00e9y', 'a key', 'x'.repeat(1025)]) {
        assertLines(errorsOf(withFile(text)), `${keyName} "${FILE}": holds not one key of 1 to 1024 `);
        if (text !== '')
          assertLines(errorsOf({ env: { [`${variable}_API_KEY`]: text } }), `${keyName}: not one key of 1`);
      }
      assert.equal(configOf(withFile('x'.repeat(1024))).providers[name]?.apiKey.length, 1024);
      assert.ok(
        !errorsOf({ env: { [`${variable}_API_KEY`]: `${SECRET} ${SECRET}` } })
          .join()
          .includes(SECRET),
      );
      assertLines(errorsOf({ args: [keyFlag, FILE] }), `${keyName} "${FILE}": cannot be read, no such file`);
    });

    it('takes https, and http on a loopback address only', () => {
      const urls = [
        'https://proxy.example/openai/v1',
        'http://127.0.0.1:8080',
        'http://localhost:1/v1',
        'http://[::1]:1',
      ];
      for (const base of urls) {
        assert.equal(configOf({ env: keyed, args: [urlFlag, `${base}/`] }).providers[name]?.baseUrl, base);
      }
      const refused = [
        ['http://10.0.0.5', 'http is for a loopback address only'],
        ['http://127.0.0.1.example', 'http is for a loopback address only'],
        ['ftp://api.example', 'must start with https://'],
        ['api.example', 'must start with https://'],
        ['https://user:pw@api.example', 'must hold no user name or password'],
        ['https://api.example?a=b', 'must hold no query or fragment'],
        ['https://api.example#a', 'must hold no query or fragment'],
      ];
      for (const [base = '', rule = ''] of refused) {
        const [error = ''] = errorsOf({ args: [urlFlag, base] });
        assert.ok(error.includes(rule), error);
        assert.ok(!error.includes('pw'), error);
      }
    });
  });
}
