import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { durationMs, parseDuration } from '../../src/lib/duration.ts';
import goDurations from '../vectors/go-durations.json' with { type: 'json' };

const SECOND = 1_000_000_000n;
const HOUR = 3_600n * SECOND;

/** The table of redirect-requirements 2.6 and both sides of the limits of int64. */
const ACCEPTED: Record<string, bigint> = {
  '240s': 240n * SECOND,
  '1h': HOUR,
  '60m': HOUR,
  '1h0m0s': HOUR,
  '1.5h': 5_400n * SECOND,
  '3600.000000001s': HOUR + 1n,
  '3600.0000000001s': HOUR,
  '.5s': SECOND / 2n,
  '5.s': 5n * SECOND,
  '+5s': 5n * SECOND,
  '1s1s': 2n * SECOND,
  '30m1h': 5_400n * SECOND,
  '1h1ns': HOUR + 1n,
  '1ms': 1_000_000n,
  '1us': 1_000n,
  '1\u00b5s': 1_000n,
  '1\u03bcs': 1_000n,
  '1ns': 1n,
  '0': 0n,
  '0s': 0n,
  '-0s': 0n,
  '+0': 0n,
  '-0': 0n,
  '-1s': -SECOND,
  '0.1ns': 0n,
  '00001s': SECOND,
  '0000000000000000000000001s': SECOND,
  [`${'0'.repeat(998)}1s`]: SECOND,
  '2562047h47m16.854775807s': 2n ** 63n - 1n,
  '9223372036854775807ns': 2n ** 63n - 1n,
  '-2562047h47m16.854775808s': -(2n ** 63n),
  '-9223372036854775808ns': -(2n ** 63n),
  // Go keeps as many digits of a fraction as fit an int64: here all 19, or all but the last.
  '.9223372036854775808h': 3_320_413_933_267n,
  '.9223372036854775809h': 3_320_413_933_267n,
};

const REFUSED: Record<string, readonly string[]> = {
  'not a duration': ['', '+', '-', '.s', ' 5s', '\u0661s', '--1s', '+-1s', 'h', '.', 's1', '-.s', '1h.m'],
  'duration without a unit': ['5', '1.', '1.2.3s', '00', '1h5', '-5'],
  'duration with an unknown unit': [
    ...['5 s', '5s ', '1e3s', '1H', '1d', '1w', '1_000s', '0x10s', '1h-30m', '1m\n', '1hm', '1min', '1s,', '1toString'],
  ],
  'duration longer than 1000 characters': [`${'0'.repeat(999)}1s`],
  'duration out of range': [
    ...['2562047h47m16.854775808s', '9223372036854775808ns', '-9223372036854775809ns', '-2562047h47m16.854775809s'],
    ...['9223372036854775807ns1ns', '2562048h', '10000000000000000000ns', `${'9'.repeat(999)}h`],
  ],
};

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: HOUR,
};

describe('parseDuration()', () => {
  for (const [text, value] of Object.entries(ACCEPTED)) {
    it(`reads "${text.slice(0, 40)}" as ${value} ns (D-65)`, () =>
      assert.deepEqual(parseDuration(text), { ok: true, value }));
  }
  for (const [fault, texts] of Object.entries(REFUSED)) {
    for (const text of texts) {
      it(`refuses ${JSON.stringify(text.slice(0, 40))} as ${fault} (D-65)`, () =>
        assert.deepEqual(parseDuration(text), { ok: false, fault }));
    }
  }

  it('agrees with Go (P-15)', () => {
    for (const [text, nanoseconds] of Object.entries(goDurations)) {
      const parsed = parseDuration(text);
      assert.equal(parsed.ok ? `${parsed.value}` : null, nanoseconds, text);
    }
  });

  /**
   * The grammar of 2.6 written down anew, in whole nanoseconds; undefined where Go sees an error. Its arithmetic is exact
   * and Go's is float64: up to six digits of a fraction they agree.
   */
  function naive(text: string): bigint | undefined {
    if (/^[+-]?0$/.test(text)) return 0n;
    const term = /([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
    let at = /^[+-]/.test(text) ? 1 : 0;
    if (at === text.length) return undefined;
    let sum = 0n;
    while (at < text.length) {
      term.lastIndex = at;
      const [whole = '', digits = '', fraction = '', unit = ''] = term.exec(text) ?? [];
      if (digits + fraction === '') return undefined;
      const size = UNITS[unit] ?? 0n;
      sum += BigInt(digits || 0) * size + (BigInt(fraction || 0) * size) / 10n ** BigInt(fraction.length);
      at += whole.length;
    }
    return text.startsWith('-') ? -sum : sum;
  }

  it('reads any text as a naive reader of the grammar does (D-65, P-15)', () => {
    const pieces = [
      '0',
      '1',
      '9',
      '15',
      '.',
      '-',
      '+',
      'h',
      'm',
      's',
      'ms',
      'us',
      '\u00b5s',
      '\u03bcs',
      'ns',
      ' ',
      'H',
      'd',
    ];
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
      fc
        .array(
          fc.tuple(fc.constantFrom('1', '20', '1.5', '.25', '3.'), fc.constantFrom('h', 'm', 's', 'ms', 'us', 'ns')),
        )
        .map((terms) => terms.flat().join('')),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    return fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseDuration(text);
        assert.equal(parsed.ok ? parsed.value : undefined, naive(text), text);
      }),
      { numRuns: 5_000 },
    );
  });

  it('refuses a sum of 2^64 ns, which Go lets wrap around to 0', () => {
    const half = `${2n ** 63n}ns`;
    assert.deepEqual(parseDuration(half + half), { ok: false, fault: 'duration out of range' });
  });
});

describe('durationMs()', () => {
  for (const [nanoseconds, ms] of [
    [0n, 0],
    [999_999n, 0],
    [1_000_000n, 1],
    [1_999_999n, 1],
    [-999_999n, 0],
    [-1_999_999n, -1],
    [HOUR, 3_600_000],
  ] as const) {
    it(`cuts ${nanoseconds} ns to ${ms} ms`, () => assert.equal(durationMs(nanoseconds), ms));
  }
});
