// `make check`: fails and says why when a requirement is without a test (see coverage.ts).

import { readdirSync, readFileSync } from 'node:fs';
import { coverageFaults, namesWhatItTests } from './coverage.ts';
import { EXEMPTIONS } from './exemptions.ts';

const TESTS = new URL('../', import.meta.url);

const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(namesWhatItTests);
const files = paths.sort().map((path) => ({ path: `test/${path}`, text: readFileSync(new URL(path, TESTS), 'utf8') }));

const faults = coverageFaults(files, EXEMPTIONS);
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} faults in the coverage of requirements (test/requirements/coverage.ts)`);
  process.exitCode = 1;
}
