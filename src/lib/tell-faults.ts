// A broken document can break a rule a line: its author reads the first ones, and how many more there are.

/** Faults that are told; the rest are counted. */
const FAULTS_MAX = 20;

/** At most 21 lines for one or more faults. */
export function tellFaults<Fault>(faults: readonly Fault[], lineOf: (fault: Fault) => string): readonly string[] {
  const lines = faults.slice(0, FAULTS_MAX).map(lineOf);
  const more = faults.length - lines.length;
  return more === 0 ? lines : [...lines, `and ${more} more`];
}
