// RFC 3339 times: strict reading and one form of writing. The runtimes' `Date.parse` also takes 30 February, a bare
// date or prose, each in its own way; this is the only core file that may use `Date`.

const FORM =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/** The years 0000 to 9999 of UTC: an offset can lead out of them, to what RFC 3339 has no digits for. */
const FIRST_MS = Date.UTC(-1, 12);
const LAST_MS = Date.UTC(10_000, 0) - 1;

/**
 * Unix milliseconds of an RFC 3339 time, or undefined. Upper-case `T` and `Z`, two-digit fields, an offset up to 23:59,
 * no leap second, any number of fraction digits, cut to milliseconds (D-66).
 */
export function parseTimestamp(text: string): number | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, dateTime, fraction = '', sign, offsetHour, offsetMinute] = match;
  const canonical = `${dateTime}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localMs = Date.parse(canonical);
  const offset = { hours: Number(offsetHour ?? 0), minutes: Number(offsetMinute ?? 0) };
  if (Number.isNaN(localMs) || offset.hours > 23 || offset.minutes > 59) return undefined;
  if (formatTimestamp(localMs) !== canonical) return undefined; // a field beyond its range was carried over
  const offsetMs = (offset.hours * 60 + offset.minutes) * 60_000;
  const ms = sign === '-' ? localMs + offsetMs : localMs - offsetMs;
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

/** `2026-11-03T12:00:00.000Z` for Unix milliseconds of the years 0 to 9999. */
export function formatTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** Whole Unix seconds; undefined stays so. */
export function unixSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms / 1000);
}
