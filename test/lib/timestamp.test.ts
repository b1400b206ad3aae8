import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { formatTimestamp, parseTimestamp } from '../../src/lib/timestamp.ts';

const NOON_MS = 1_793_707_200_000;
const HOUR_MS = 3_600_000;
const YEAR_0_MS = -62_167_219_200_000;
const YEAR_9999_END_MS = 253_402_300_799_999;

/** The table of redirect-requirements 2.6 and the near side of each limit. */
const ACCEPTED: Record<string, number> = {
  '2026-11-03T12:00:00Z': NOON_MS,
  '2026-11-03T12:00:00.5Z': NOON_MS + 500,
  '2026-11-03T12:00:00.05Z': NOON_MS + 50,
  '2026-11-03T12:00:00.1234567891234Z': NOON_MS + 123,
  '2026-11-03T12:00:00.9999999Z': NOON_MS + 999,
  '2026-11-03T12:00:00+01:00': NOON_MS - HOUR_MS,
  '2026-11-03T12:00:00.25-01:30': NOON_MS + 250 + 1.5 * HOUR_MS,
  '2026-11-03T12:00:00-00:00': NOON_MS,
  '2026-11-03T12:00:00+23:59': NOON_MS - 24 * HOUR_MS + 60_000,
  '2026-11-03T12:00:00-23:59': NOON_MS + 24 * HOUR_MS - 60_000,
  '2028-02-29T00:00:00Z': 1_835_395_200_000,
  '2000-02-29T00:00:00Z': 951_782_400_000,
  '1970-01-01T00:00:00Z': 0,
  '1969-12-31T23:59:59Z': -1_000,
  '0099-12-31T00:00:00Z': -59_011_545_600_000,
  '0001-01-01T00:00:00Z': -62_135_596_800_000,
  '0000-01-01T00:00:00Z': YEAR_0_MS,
  '9999-12-31T23:59:59.999Z': YEAR_9999_END_MS,
  '9999-12-31T22:59:59.999-01:00': YEAR_9999_END_MS,
  '0000-01-01T01:00:00+01:00': YEAR_0_MS,
};

const REFUSED = [
  '9999-12-31T23:00:00-01:00',
  '0000-01-01T00:59:59+01:00',
  '2026-11-03t12:00:00z',
  '2026-11-03T12:00:00z',
  '2026-11-03t12:00:00Z',
  '2026-11-03 12:00:00Z',
  '2026-11-03T12:00:00Z ',
  ' 2026-11-03T12:00:00Z',
  '2026-11-03T12:00:00Z\n',
  '2026-11-03T12:00Z',
  '2026-11-03T12:00:00',
  '2026-11-03T12:00:00+0100',
  '2026-11-03T12:00:00+01',
  '2026-11-03T12:00:00+1:00',
  '2026-11-03T12:00:00+24:00',
  '2026-11-03T12:00:00-24:00',
  '2026-11-03T12:00:00+01:60',
  '2026-11-03T12:00:00\u221201:00',
  '2026-11-03T2:00:00Z',
  '2026-11-03T12:00:00,5Z',
  '2026-11-03T12:00:00.Z',
  '2026-11-03T12:00:60Z',
  '2026-12-31T23:59:60Z',
  '2026-11-03T12:60:00Z',
  '2026-11-03T24:00:00Z',
  '2026-11-03T25:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-11-00T00:00:00Z',
  '2026-12-32T00:00:00Z',
  '2026-00-03T00:00:00Z',
  '2026-13-03T00:00:00Z',
  '12026-11-03T12:00:00Z',
  '+002026-11-03T12:00:00Z',
  '-2026-11-03T12:00:00Z',
  '\u0662026-11-03T12:00:00Z',
  '2026-1-03T12:00:00Z',
  '1793707200000',
  '2026-11-03',
  'Tue Nov 3 2026',
  '',
];

const anyMs = fc.integer({ min: YEAR_0_MS, max: YEAR_9999_END_MS });

describe('parseTimestamp()', () => {
  for (const [text, ms] of Object.entries(ACCEPTED)) {
    it(`reads ${text} (D-66)`, () => assert.equal(parseTimestamp(text), ms));
  }
  for (const text of REFUSED) {
    it(`refuses ${JSON.stringify(text)} (D-66)`, () => assert.equal(parseTimestamp(text), undefined));
  }

  it('accepts the last day of each month and refuses the next', () => {
    const lastDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (const [index, day] of lastDays.entries()) {
      const month = `${index + 1}`.padStart(2, '0');
      assert.notEqual(parseTimestamp(`2026-${month}-${day}T00:00:00Z`), undefined);
      assert.equal(parseTimestamp(`2026-${month}-${day + 1}T00:00:00Z`), undefined);
    }
  });
});

describe('formatTimestamp()', () => {
  it('writes UTC with milliseconds', () => {
    assert.equal(formatTimestamp(NOON_MS), '2026-11-03T12:00:00.000Z');
    assert.equal(formatTimestamp(NOON_MS + 5), '2026-11-03T12:00:00.005Z');
  });

  it('is read back as the same millisecond', () =>
    fc.assert(fc.property(anyMs, (ms) => parseTimestamp(formatTimestamp(ms)) === ms)));
});
