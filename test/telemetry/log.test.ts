import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, describeError } from '../../src/telemetry/log.ts';

const NOW_MS = Date.UTC(2026, 10, 3, 12);
const TOKEN = 'v2.k1.AAEBRlIBoaFHzgAAAOpg_Zz-9.bvDwYUGvNTABGFm-MkknhGUhrEM1-il3Hzes2lOFK4s';

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(
    createLog(
      () => NOW_MS,
      (line) => void lines.push(line),
    ),
  );
  assert.equal(lines.length, 1);
  return lines[0] ?? '';
}

describe('createLog()', () => {
  it('writes time, level, message and fields in one line (E14)', () => {
    assert.equal(
      logged((log) => log.info('Replaced keys', { version: '7', count: 2, ok: true, missing: undefined })),
      '2026-11-03T12:00:00.000Z INFO Replaced keys version="7" count=2 ok=true\n',
    );
    assert.equal(
      logged((log) => log.warn('Odd')),
      '2026-11-03T12:00:00.000Z WARN Odd\n',
    );
    assert.equal(
      logged((log) => log.error('Bad', {})),
      '2026-11-03T12:00:00.000Z ERROR Bad\n',
    );
  });

  it('keeps a value that a client sent inside its line (T-36)', () => {
    const line = logged((log) => log.warn('Refused', { rule: 'a"\n2026 INFO forged\r\u2028 x=1' }));
    assert.equal(line.indexOf('\n'), line.length - 1);
    assert.ok(!line.includes('\r'));
    assert.ok(line.includes('rule="a\\"\\n2026 INFO forged'));
  });

  it('writes no token, in the message, in a field or in a name (R-207, D-70)', () => {
    for (const line of [
      logged((log) => log.error(`Failed at https://b/v1?rt=${TOKEN}`)),
      logged((log) => log.error('Failed', { cause: `at ${TOKEN}.` })),
      logged((log) => log.error('Failed', { [TOKEN]: 1 })),
    ]) {
      assert.ok(!line.includes(TOKEN) && line.includes('REDACTED'), line);
    }
  });
});

describe('rarely()', () => {
  function rarely(): { at: (ms: number, topic?: 'ledger_full' | 'cannot_redirect') => void; lines: string[] } {
    const lines: string[] = [];
    let nowMs = NOW_MS;
    const log = createLog(
      () => nowMs,
      (line) => void lines.push(line),
    );
    const at = (ms: number, topic: 'ledger_full' | 'cannot_redirect' = 'ledger_full'): void => {
      nowMs = NOW_MS + ms;
      log.rarely(topic, 'Full', { count: ms });
    };
    return { at, lines };
  }

  it('tells at most once a minute, with what was known at that moment (D-43)', () => {
    const { at, lines } = rarely();
    for (const ms of [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000]) at(ms);
    const counts = lines.map((line) => /^\S+ ERROR Full count=(\d+)\n$/.exec(line)?.[1]);
    assert.deepEqual(counts, ['0', '60000', '120000']);
  });

  it('keeps topics apart (D-43, D-45)', () => {
    const { at, lines } = rarely();
    at(0, 'ledger_full');
    at(1, 'cannot_redirect');
    at(2, 'ledger_full');
    assert.deepEqual(
      lines.map((line) => line.split(' ')[1]),
      ['ERROR', 'WARN'],
    );
  });

  it('does not hold one log back because of another (D-43)', () => {
    const [one, other] = [rarely(), rarely()];
    one.at(0);
    other.at(0);
    assert.deepEqual([one.lines.length, other.lines.length], [1, 1]);
  });

  it('redacts as the others do (R-207)', () => {
    const line = logged((log) => log.rarely('cannot_redirect', 'Failed', { url: `https://b?rt=${TOKEN}` }));
    assert.ok(!line.includes(TOKEN));
  });
});

describe('describeError()', () => {
  it('is name and message without token and without stack (R-207)', () => {
    const described = describeError(new TypeError(`cannot parse https://b?rt=${TOKEN}`));
    assert.equal(described, 'TypeError: cannot parse https://b?rt=REDACTED');
  });

  it('says nothing of what is no error, which could be anything (R-207)', () => {
    assert.equal(describeError('a body'), 'unknown error');
    assert.equal(describeError({ message: 'a body' }), 'unknown error');
    assert.equal(describeError(undefined), 'unknown error');
  });
});
