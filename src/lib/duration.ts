// Durations as Go writes and reads them (`time.ParseDuration`), because those who write maps and settings are Go
// programs or copy them (D-65). Held as Go holds them, in int64 nanoseconds, so that limits agree to the last one.

import { fault, ok, type Result } from './result.ts';

/** Nanoseconds in a millisecond. */
export const NS_PER_MS = 1_000_000n;

const UNIT_NS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // micro sign
  ['\u03bcs', 1_000n], // Greek mu
  ['ms', NS_PER_MS],
  ['s', 1_000n * NS_PER_MS],
  ['m', 60_000n * NS_PER_MS],
  ['h', 3_600_000n * NS_PER_MS],
]);

/** Whole digits, fraction digits, unit: all that stands before the next digit or point. */
const TERM = /([0-9]*)(?:\.([0-9]*))?([^.0-9]*)/y;

/** The magnitude of the least int64. */
const MAGNITUDE_MAX = 2n ** 63n;

/** In characters: far more than any duration needs, few enough that the arithmetic never blocks the router. */
const TEXT_MAX = 1_000;

/**
 * Reads a Go duration: an optional sign, then terms such as `1h`, `1.5s`, `.5s` or `300ms`, or a bare `0`. The value is
 * nanoseconds in the int64 range; what is finer is cut. The fault is the broken rule. Unlike Go, which wraps around, it
 * refuses terms that add up to 2^64 ns, and any text above 1,000 characters.
 */
export function parseDuration(text: string): Result<bigint, string> {
  if (text.length > TEXT_MAX) return fault('duration longer than 1000 characters');
  const isNegative = text.startsWith('-');
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return ok(0n);
  if (unsigned === '') return fault('not a duration');
  let magnitude = 0n;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < unsigned.length) {
    const term = parseTerm(TERM.exec(unsigned) ?? []);
    if (!term.ok) return term;
    magnitude += term.value;
  }
  if (magnitude > MAGNITUDE_MAX || (magnitude === MAGNITUDE_MAX && !isNegative)) return fault('duration out of range');
  return ok(isNegative ? -magnitude : magnitude);
}

/** Whole milliseconds, cut towards zero. */
export function durationMs(nanoseconds: bigint): number {
  return Number(nanoseconds / NS_PER_MS);
}

function parseTerm([, whole = '', fraction = '', unitName = '']: readonly string[]): Result<bigint, string> {
  if (whole === '' && fraction === '') return fault('not a duration');
  if (unitName === '') return fault('duration without a unit');
  const unit = UNIT_NS.get(unitName);
  if (unit === undefined) return fault('duration with an unknown unit');
  return ok(BigInt(whole) * unit + fractionNs(fraction, unit));
}

/**
 * The fraction in float64 as Go computes it, digit by digit: exact arithmetic would differ from Go by a nanosecond now
 * and then. Digits that no longer fit an int64 are dropped.
 */
function fractionNs(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next > MAGNITUDE_MAX) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}
