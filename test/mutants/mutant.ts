// A mutation as data: one defect put into one source file, and the tests that must notice it. Apart from the runner, so
// that a test of every run holds each of them to the sources as they are.

import { fault, ok, type Result } from '../../src/lib/result.ts';

/** Text that occurs exactly once in the file, and what stands in its place. */
export type Edit = readonly [find: string, replace: string];

export interface Mutant {
  /** Below the root of the repository. */
  readonly file: string;
  /** What no longer holds, in one phrase; unique among all mutants. */
  readonly breaks: string;
  /** Made at once, so that two texts can change places. */
  readonly edits: readonly Edit[];
  /** Files and directories below the root, for `bun test`. At least one test in them must fail. */
  readonly tests: readonly string[];
}

/** Mutants of one file that the same tests must notice. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  defects: Readonly<Record<string, Edit | readonly Edit[]>>,
): readonly Mutant[] {
  return Object.entries(defects).map(([breaks, edits]) => ({
    file,
    tests,
    breaks,
    edits: areMany(edits) ? edits : [edits],
  }));
}

/** One mutant for each two of the texts: they change places. `alike`: the pairs that no input tells apart, `a and b`. */
export function swapsOf(
  file: string,
  tests: readonly string[],
  texts: Readonly<Record<string, string>>,
  alike: readonly string[] = [],
): readonly Mutant[] {
  const named = Object.entries(texts);
  const pairs = named.flatMap(([one, first], index) =>
    named.slice(index + 1).map(([other, second]) => ({ name: `${one} and ${other}`, first, second })),
  );
  return pairs
    .filter(({ name }) => !alike.includes(name))
    .map(({ name, first, second }) => ({
      file,
      tests,
      breaks: `${name} change places`,
      edits: [
        [first, second],
        [second, first],
      ],
    }));
}

/** The mutated source. The fault says which text no longer stands there exactly once: the mutant is stale. */
export function mutate(source: string, edits: readonly Edit[]): Result<string, string> {
  const places = edits.map(([find, replace]) => ({ find, replace, start: source.indexOf(find) }));
  for (const { find, start } of places) {
    if (start === -1) return fault(`not found: ${find}`);
    if (source.indexOf(find, start + 1) !== -1) return fault(`found more than once: ${find}`);
  }
  let mutated = source;
  for (const { find, replace, start } of places.toSorted((one, other) => other.start - one.start)) {
    mutated = mutated.slice(0, start) + replace + mutated.slice(start + find.length);
  }
  return mutated === source ? fault('changes nothing') : ok(mutated);
}

function areMany(edits: Edit | readonly Edit[]): edits is readonly Edit[] {
  return typeof edits[0] !== 'string';
}
