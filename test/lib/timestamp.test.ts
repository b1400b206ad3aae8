import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { formatTimestamp, parseTimestamp, unixSeconds } from '../../src/lib/timestamp.ts';

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

describe('parseTimestamp(), any text', () => {
  const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

  /** RFC 3339 without leap seconds, written down anew; undefined where it is none. */
  function naive(text: string): number | undefined {
    const [, year, month, day, hour, minute, second, fraction = '', sign, offHours = '0', offMinutes = '0'] =
      FORM.exec(text) ?? [];
    if (year === undefined) return undefined;
    const date = new Date(0);
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
    const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
    const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
    if (!isDate || !isTime || Number(offHours) > 23 || Number(offMinutes) > 59) return undefined;
    const offsetMinutes = (sign === '-' ? -1 : 1) * (Number(offHours) * 60 + Number(offMinutes));
    const dayMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
    const ms = date.getTime() + dayMs + Number(`${fraction}000`.slice(0, 3)) - offsetMinutes * 60_000;
    return ms >= YEAR_0_MS && ms <= YEAR_9999_END_MS ? ms : undefined;
  }

  const two = fc
    .oneof(fc.integer({ min: 0, max: 61 }), fc.integer({ min: 0, max: 31 }))
    .map((n) => `${n}`.padStart(2, '0'));
  const shaped = fc
    .record({
      year: fc.constantFrom('0000', '0001', '1900', '2000', '2026', '2028', '9999', '12026', '26'),
      fields: fc.tuple(two, two, two, two, two),
      mark: fc.constantFrom('T', 'T', 'T', 't', ' '),
      fraction: fc.constantFrom('', '', '.5', '.', ',5', '.0019', '.123456789012345678901234567890'),
      zone: fc.oneof(
        fc.constantFrom('Z', 'Z', 'z', '', '+01', '+0100'),
        fc.tuple(two, two).map(([h, m]) => `-${h}:${m}`),
      ),
      noise: fc.constantFrom('', '', '', '', ' ', '\n', 'Z'),
    })
    .map(({ year, fields: [month, day, hour, minute, second], mark, fraction, zone, noise }) => {
      return `${year}-${month}-${day}${mark}${hour}:${minute}:${second}${fraction}${zone}${noise}`;
    });

  it('reads it as a naive reader of RFC 3339 does (D-66)', () =>
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: shaped }, fc.string({ unit: 'binary' })), (text) => {
        assert.equal(parseTimestamp(text), naive(text), text);
      }),
      { numRuns: 5_000 },
    ));

  it('reads every moment in every zone and refuses it with one character changed to a letter (D-66)', () =>
    fc.assert(
      fc.property(anyMs, fc.integer({ min: -1_439, max: 1_439 }), fc.nat(), (ms, zone, place) => {
        const local = ms + zone * 60_000;
        fc.pre(local >= YEAR_0_MS && local <= YEAR_9999_END_MS);
        const hours = `${Math.trunc(Math.abs(zone) / 60)}`.padStart(2, '0');
        const minutes = `${Math.abs(zone) % 60}`.padStart(2, '0');
        const text = `${formatTimestamp(local).slice(0, -1)}${zone < 0 ? '-' : '+'}${hours}:${minutes}`;
        assert.equal(parseTimestamp(text), ms, text);
        const index = place % text.length;
        assert.equal(parseTimestamp(`${text.slice(0, index)}x${text.slice(index + 1)}`), undefined);
      }),
      { numRuns: 1_000 },
    ));
});

describe('formatTimestamp()', () => {
  it('writes UTC with milliseconds', () => {
    assert.equal(formatTimestamp(NOON_MS), '2026-11-03T12:00:00.000Z');
    assert.equal(formatTimestamp(NOON_MS + 5), '2026-11-03T12:00:00.005Z');
  });

  it('is read back as the same millisecond', () =>
    fc.assert(fc.property(anyMs, (ms) => parseTimestamp(formatTimestamp(ms)) === ms)));
});

describe('unixSeconds()', () => {
  it('are whole seconds, also before 1970, and nothing of nothing', () => {
    assert.deepEqual([1999, 2000, -1, undefined].map(unixSeconds), [1, 2, -1, undefined]);
  });
});
