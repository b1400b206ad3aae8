// Which requirements of cross-site redirect, R-001 to R-226, no test names. A test names one in its title or in a
// comment; a range such as names its two ends only, so that no number is claimed by accident.

import type { Exemption } from './exemptions.ts';

const LAST = 226;
const REQUIREMENTS = Array.from({ length: LAST }, (_, index) => `R-${String(index + 1).padStart(3, '0')}`);

/** A file below `test/`, by its path. */
export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** Folders whose files name requirements that they do not show on every run. */
const NAMING_ONLY = ['mutants', 'requirements', 'soak', 'support'];

/** Whether a file below `test/`, by its path from there, counts: tests, and the tables and steps beside them. */
export function namesWhatItTests(path: string): boolean {
  return path.endsWith('.ts') && !NAMING_ONLY.some((folder) => path.startsWith(`${folder}/`));
}

/** Every R-number in the files, known or not, with the files that name it. */
function namedIn(files: readonly TestFile[]): ReadonlyMap<string, readonly string[]> {
  const named = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const requirement of new Set(text.match(/\bR-\d+/g))) {
      named.set(requirement, [...(named.get(requirement) ?? []), path]);
    }
  }
  return named;
}

/** What is wrong, one line each; nothing if every requirement is tested or exempt. */
export function coverageFaults(files: readonly TestFile[], exemptions: readonly Exemption[]): readonly string[] {
  const named = namedIn(files);
  const isKnown = new Set(REQUIREMENTS);
  const exempt = new Map(exemptions.map((exemption) => [exemption.requirement, exemption]));
  const missing = REQUIREMENTS.filter((requirement) => !named.has(requirement) && !exempt.has(requirement));
  return [
    ...missing.map((requirement) => `${requirement}: no test names it`),
    ...[...named].flatMap(([requirement, paths]) =>
      isKnown.has(requirement) ? [] : [`${requirement}: no such requirement, in ${paths.join(', ')}`],
    ),
    ...exemptions.flatMap((exemption, index) => {
      const { requirement } = exemption;
      if (!isKnown.has(requirement)) return [`${requirement}: no such requirement, in the exemptions`];
      if (exemptions.findIndex((other) => other.requirement === requirement) < index) {
        return [`${requirement}: exempt twice`];
      }
      return exemptionFaults(exemption, named.get(requirement) ?? []);
    }),
  ];
}

function exemptionFaults({ requirement, waitsFor, isPartly }: Exemption, paths: readonly string[]): readonly string[] {
  if (isPartly === true && paths.length === 0) return [`${requirement}: exempt in part, but no test names the rest`];
  if (isPartly !== true && paths.length > 0) {
    return [`${requirement}: waits for ${waitsFor}, but is named in ${paths.join(', ')}`];
  }
  return [];
}
