import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBenchOptions } from '../../src/bench/options.ts';

function mistakesIn(...args: readonly string[]): readonly string[] {
  const read = readBenchOptions(args);
  assert.equal(read.ok, false, args.join(' '));
  return read.ok ? [] : read.fault;
}

describe('readBenchOptions()', () => {
  it('takes 2 minutes and bodies of 1 KiB unless told otherwise', () => {
    const read = readBenchOptions([]);
    assert.deepEqual(read, { ok: true, value: { isJson: false, bodyBytes: 1_024, durationMs: 120_000 } });
  });

  it('reads every option', () => {
    const read = readBenchOptions(['--quick', '--json', '--body', '32768']);
    assert.deepEqual(read, { ok: true, value: { isJson: true, bodyBytes: 32_768, durationMs: 20_000 } });
    const longer = readBenchOptions(['--quick', '--duration=1m30s']);
    assert.equal(longer.ok && longer.value !== 'help' && longer.value.durationMs, 90_000);
  });

  it('takes bodies of 128 bytes to 10 MiB, and 1s to 1h', () => {
    for (const args of [
      ['--body', '128'],
      ['--body', '10485760'],
      ['--duration', '1s'],
      ['--duration', '1h'],
    ]) {
      assert.equal(readBenchOptions(args).ok, true, args.join(' '));
    }
    for (const body of ['127', '10485761', '1e3', '', 'ten', '99999999999']) {
      assert.match(mistakesIn('--body', body)[0] ?? '', /^--body ".*": must be bytes from 128 to 10485760/);
    }
    for (const duration of ['999ms', '60m1s', '10', '-5s', '']) {
      assert.match(mistakesIn(`--duration=${duration}`)[0] ?? '', /^--duration ".*": must be a duration from 1s to 1h/);
    }
  });

  it('tells every mistake at once, an unknown option with its name', () => {
    const told = mistakesIn('--fast', 'now', '--body', '1', '--duration');
    assert.deepEqual(
      told.map((line) => /"([^"]*)"|without a value/.exec(line)?.[0]),
      ['"--fast"', '"now"', 'without a value', '"1"'],
    );
    assert.match(mistakesIn('--quick=yes')[0] ?? '', /take no value/);
  });

  it('shows help whatever else is wrong', () => {
    assert.deepEqual(readBenchOptions(['--fast', '--help']), { ok: true, value: 'help' });
    assert.deepEqual(readBenchOptions(['-h']), { ok: true, value: 'help' });
  });
});
