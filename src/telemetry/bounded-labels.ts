// How many series a family may have: keys, owners and pushed agents could bring more names than a Prometheus can hold.

/** Series of one family of counters or gauges. */
export const SERIES_MAX = 10_000;

/** The value of every label of what comes beyond. */
const OTHER = 'other';

/** Passes the first `max` combinations of labels, and all others as one. */
export function boundedLabels<const Name extends string>(names: readonly Name[], max: number = SERIES_MAX) {
  const known = new Set<string>();
  const other = Object.fromEntries(names.map((name) => [name, OTHER])) as Record<Name, string>;
  return (labels: Readonly<Record<Name, string>>): Record<Name, string> => {
    const key = JSON.stringify(names.map((name) => labels[name]));
    if (!known.has(key) && known.size >= max) return other;
    known.add(key);
    return labels;
  };
}
