import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCommandLine } from '../../src/config/command-line.ts';
import { assertLines } from './reading.ts';

const HTTP = '--http-port (HIVENET_ROUTER_HTTP_PORT)';

function assertRefused(args: readonly string[], ...starts: readonly string[]): void {
  assertLines(readCommandLine(args).errors, ...starts);
}

describe('readCommandLine()', () => {
  it('takes a value behind the flag or behind "="', () => {
    const { flags, errors } = readCommandLine([
      '--http-port',
      ':1',
      '--metrics-port=:2',
      '--site-id=',
      '--engine',
      'a=b=c',
    ]);
    assert.deepEqual(errors, []);
    assert.deepEqual(
      [...flags],
      [
        ['--http-port', [':1']],
        ['--metrics-port', [':2']],
        ['--site-id', ['']],
        ['--engine', ['a=b=c']],
      ],
    );
  });

  it('keeps every value of a repeatable flag, in order', () => {
    assert.deepEqual(readCommandLine(['--engine=b', '--engine', 'a', '--engine=b']).flags.get('--engine'), [
      'b',
      'a',
      'b',
    ]);
  });

  it('refuses another flag that is given twice', () => {
    assertRefused(['--http-port=:1', '--http-port=:1'], `${HTTP}: flag given more than once`);
  });

  it('refuses an unknown flag, and does not blame the word behind it', () => {
    assertRefused(['--bogus'], '"--bogus": unknown flag');
    assertRefused(['--bogus', 'word', '--http-port', ':1'], '"--bogus": unknown flag');
    assertRefused(['--bogus=word'], '"--bogus": unknown flag');
    assertRefused(['--HTTP-PORT=:1'], '"--HTTP-PORT": unknown flag');
    assertRefused(['--admin-api-keys=k'], '"--admin-api-keys": unknown flag');
    assertRefused(['--__proto__=1', '--constructor'], '"--__proto__": unknown flag', '"--constructor": unknown flag');
  });

  it('refuses flags of one dash, each as one', () => {
    assertRefused(['-http-port', ':1'], '"-http-port": unknown flag');
    assertRefused(['-h', '-x-y=z', '--http-port=:1'], '"-h": unknown flag', '"-x-y": unknown flag');
  });

  it('refuses a flag without a value, at the end and before another flag, which keeps its own', () => {
    assertRefused(['--http-port'], `${HTTP}: flag without a value, for example --http-port :8080`);
    assertRefused(
      ['--queue-size'],
      '--queue-size (HIVENET_ROUTER_QUEUE_SIZE): flag without a value, for example --queue-size VALUE',
    );
    const { flags, errors } = readCommandLine(['--http-port', '--metrics-port', ':2']);
    assertLines(errors, `${HTTP}: flag without a value`);
    assert.deepEqual(flags.get('--metrics-port'), [':2']);
    assert.deepEqual(flags.get('--http-port'), []);
  });

  it('takes a value that begins with a dash behind "=" only, unless it is a number, so that its range is told', () => {
    for (const args of [['--redirect-token-ttl=-1s'], ['--redirect-token-ttl', '-1s']]) {
      assert.deepEqual(readCommandLine(args), { flags: new Map([['--redirect-token-ttl', ['-1s']]]), errors: [] });
    }
    assert.deepEqual(readCommandLine(['--redirect-token-ttl=-s']).flags.get('--redirect-token-ttl'), ['-s']);
    assertRefused(['--redirect-token-ttl', '-s'], '--redirect-token-ttl (', '"-s": unknown flag');
    assertRefused(['-1'], 'Argument 1: belongs to no flag');
  });

  it('refuses a value of a switch', () => {
    const start = '--reset-disk-db (HIVENET_ROUTER_RESET_DISK_DB): takes no value';
    assert.deepEqual(readCommandLine(['--reset-disk-db']), { flags: new Map([['--reset-disk-db', ['']]]), errors: [] });
    assertRefused(['--reset-disk-db=true'], start);
    assertRefused(['--reset-disk-db='], start);
    assertRefused(['--reset-disk-db', 'true'], start);
  });

  it('refuses a word that belongs to no flag, and tells its place but not the word', () => {
    assertRefused(['word'], 'Argument 1: belongs to no flag');
    assertRefused(['--http-port=:1', 'word'], 'Argument 2: belongs to no flag');
    assertRefused(['--http-port', ':1', 'word', '-'], 'Argument 3: ', 'Argument 4: ');
    assertRefused(['--', '--http-port=:1'], 'Argument 2: belongs to no flag');
    assertRefused(['--http-port', '--', ':1'], 'Argument 3: ', `${HTTP}: flag without a value`);
    assert.ok(!readCommandLine(['canary']).errors.join('').includes('canary'));
  });
});
