import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mockEngineHelp, readMockEngineSettings } from '../../src/mock-engine/read-settings.ts';
import { FLAGS, type MockEngineSettings } from '../../src/mock-engine/settings.ts';

const TABLE = Object.values(FLAGS);

function read(...args: string[]): MockEngineSettings {
  const settings = readMockEngineSettings(args);
  if (!settings.ok || settings.value === 'help') throw new Error(`no settings from ${args.join(' ')}`);
  return settings.value;
}

function mistakes(...args: string[]): readonly string[] {
  const settings = readMockEngineSettings(args);
  return settings.ok ? [] : settings.fault;
}

describe('readMockEngineSettings()', () => {
  it('needs nothing but models', () => {
    assert.deepEqual(read('--models', 'a'), {
      address: '127.0.0.1:8000',
      name: 'mock-engine',
      models: ['a'],
      capability: 'llm',
      tokensPerSecond: 0,
      ttftMs: 0,
      startDelayMs: 0,
      errorRate: 0,
    });
  });

  it('takes every flag, with = or a blank', () => {
    const args = '--port=:9000 --name g --models a,org/b:7b --capability reranker --tokens-per-second 12.5';
    const more = '--ttft 1m1.5s --start-delay=24h --error-rate .25';
    assert.deepEqual(read(...args.split(' '), ...more.split(' ')), {
      address: ':9000',
      name: 'g',
      models: ['a', 'org/b:7b'],
      capability: 'reranker',
      tokensPerSecond: 12.5,
      ttftMs: 61_500,
      startDelayMs: 86_400_000,
      errorRate: 0.25,
    });
  });

  it('puts a bare port on the loopback address', () => {
    assert.equal(read('--models', 'a', '--port', '9000').address, '127.0.0.1:9000');
  });

  it('lets the last of equal flags count', () => {
    assert.equal(read('--models', 'a', '--name', 'x', '--name', 'y').name, 'y');
  });

  it('takes the example of every flag', () => {
    for (const flag of TABLE) assert.deepEqual(mistakes('--models', 'a', `--${flag.name}`, flag.example), []);
  });

  for (const [flag, good, bad] of [
    ['port', '65535', '65536'],
    ['port', '[::1]:0', '::1'],
    ['name', 'n'.repeat(64), 'n'.repeat(65)],
    ['name', 'a.B_c-1', 'a b'],
    [
      'models',
      Array.from({ length: 100 }, (_, index) => index).join(),
      Array.from({ length: 101 }, (_, i) => i).join(),
    ],
    ['models', 'm'.repeat(256), 'm'.repeat(257)],
    ['models', 'a, b', 'a,,b'],
    ['models', 'a,b', 'a,a'],
    ['models', 'a', ''],
    ['capability', 'embedding', 'rerank'],
    ['tokens-per-second', '1000000', '1000000.1'],
    ['tokens-per-second', '0', '-1'],
    ['tokens-per-second', '1.', '1e3'],
    ['ttft', '24h', '24h1ms'],
    ['ttft', '0', '-1ms'],
    ['start-delay', '1ms', '1'],
    ['error-rate', '1', '1.01'],
    ['error-rate', '0.0', 'NaN'],
  ] as const) {
    it(`takes --${flag} ${good.slice(0, 12)} and refuses ${JSON.stringify(bad.slice(0, 12))}`, () => {
      assert.deepEqual(mistakes('--models', 'a', `--${flag}=${good}`), []);
      const lines = mistakes('--models', 'a', `--${flag}=${bad}`);
      assert.equal(lines.length, 1);
      assert.ok(lines[0]?.startsWith(`--${flag} "${bad}": must be `));
    });
  }

  it('names every mistake at once: flag, value, rule and an example', () => {
    assert.deepEqual(mistakes('--port', 'x', '--prot', '80', '--constructor', 'y', '--ttft', '5', 'stray', '--name'), [
      '--prot: unknown flag, use --port --name --models --capability --tokens-per-second --ttft --start-delay --error-rate',
      '--constructor: unknown flag, use --port --name --models --capability --tokens-per-second --ttft --start-delay --error-rate',
      '"stray": must be a flag, for example --models llama-3-8b,llama-3-70b',
      '--port "x": must be host:port, :port or a port, 0 to 65535, for example --port :8000',
      '--name has no value: must be 1 to 64 of A-Z a-z 0-9 . _ -, for example --name gpu-1',
      '--models has no value: must be 1 to 100 names, separated by commas, without blanks, each once, for example --models llama-3-8b,llama-3-70b',
      '--ttft "5": must be a duration from 0s to 24h, for example --ttft 250ms',
    ]);
  });

  it('takes what follows an unknown flag for its value, and nothing else', () => {
    const stray = /^"stray": must be a flag/;
    assert.match(mistakes('stray', '--models', 'a').join(), stray);
    assert.match(mistakes('--models', 'a', '--prot=80', 'stray')[1] ?? '', stray);
    assert.match(mistakes('--models', 'a', '--prot', '80', 'stray')[1] ?? '', stray);
    assert.equal(mistakes('--models', 'a', '-p', '80').length, 1);
  });

  it('answers --help and -h before it looks for mistakes', () => {
    for (const flag of ['--help', '-h']) {
      assert.deepEqual(readMockEngineSettings(['--port', 'x', flag]), { ok: true, value: 'help' });
    }
  });
});

describe('mockEngineHelp()', () => {
  it('lists every flag with its meaning and default', () => {
    for (const { name, placeholder, meaning, fallback } of TABLE) {
      const more = fallback === undefined ? 'required' : `default ${fallback}`;
      assert.ok(mockEngineHelp().includes(`  --${name} ${placeholder}\n      ${meaning} (${more})`), name);
    }
  });
});
