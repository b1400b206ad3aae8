// `make mutants`: whether the tests notice each defect that they are there for. Works on copies, so that the sources are
// never touched. Exit code 1 when a mutant survives or is stale, or when the tests are red without any.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type Mutant, mutate } from './mutant.ts';
import { MUTANTS } from './suite.ts';

/** What the tests read. */
const COPIED = ['src', 'test', 'package.json', 'tsconfig.json', 'bunfig.toml'];

/** On a busy machine a test may be slow without a defect; one that waits for what never comes is red after this time. */
const TEST_LIMIT_MS = 60_000;

/** For all tests of one mutant; without one they take 10 s. */
const RUN_LIMIT_MS = 600_000;

/** `hung`: no test was red in time. That a defect runs forever is luck, so that it counts as survived. */
type Outcome = 'killed' | 'survived' | 'hung';

interface Verdict {
  readonly outcome: Outcome | 'stale';
  /** File, what is broken, and why a stale mutant is stale. */
  readonly text: string;
}

async function copySources(root: string): Promise<string> {
  for (const name of COPIED) await cp(name, join(root, name), { recursive: true });
  await symlink(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  return root;
}

/** `--bail`, since one red test is enough. */
function runTests(root: string, tests: readonly string[], stdio: 'ignore' | 'inherit' = 'ignore'): Promise<Outcome> {
  const options = ['--bail', '--only-failures', `--timeout=${TEST_LIMIT_MS}`];
  const limits = { timeout: RUN_LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const command = ['test', ...options, ...tests.map((test) => `./${test}`)];
  const child = spawn(process.execPath, command, { cwd: root, stdio, ...limits });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (signal !== null) resolve('hung');
      else resolve(code === 0 ? 'survived' : 'killed');
    });
  });
}

async function judge(root: string, { file, breaks, edits, tests }: Mutant): Promise<Verdict> {
  const path = join(root, file);
  const text = `${file.replace('src/', '')}: ${breaks}`;
  const source = await readFile(path, 'utf8');
  const mutated = mutate(source, edits);
  if (!mutated.ok) return { outcome: 'stale', text: `${text} (${mutated.fault})` };
  await writeFile(path, mutated.value);
  const outcome = await runTests(root, tests);
  await writeFile(path, source);
  return { outcome, text };
}

/** In each copy of the sources one mutant at a time, the next in line. */
async function judgeAll(mutants: readonly Mutant[], roots: readonly string[]): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const queue = mutants.values();
  await Promise.all(
    roots.map(async (root) => {
      for (const mutant of queue) {
        const verdict = await judge(root, mutant);
        verdicts.push(verdict);
        print(`${String(verdicts.length).padStart(3)}/${mutants.length} ${verdict.outcome.padEnd(8)}  ${verdict.text}`);
      }
    }),
  );
  return verdicts;
}

/** Whether every mutant is killed; the others once more, and the sum. */
function summarize(verdicts: readonly Verdict[], seconds: string): boolean {
  const of = (...outcomes: readonly Verdict['outcome'][]) =>
    verdicts.filter(({ outcome }) => outcomes.includes(outcome));
  const [killed, survived, stale] = [of('killed'), of('survived', 'hung'), of('stale')];
  for (const { outcome, text } of [...survived, ...stale]) print(`${outcome}: ${text}`);
  const sum = [`${killed.length} killed`, `${survived.length} survived`, `${stale.length} stale`].join(', ');
  print(`${verdicts.length} mutants, ${sum} (${seconds} s)`);
  return killed.length === verdicts.length;
}

async function runSuite(mutants: readonly Mutant[], folder: string): Promise<boolean> {
  const copies = Array.from({ length: Math.min(availableParallelism(), mutants.length) }, (_, index) =>
    copySources(join(folder, String(index))),
  );
  const roots = await Promise.all(copies);
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  if ((await runTests(roots[0] ?? '', tests, 'inherit')) !== 'survived') {
    print('The tests are red without any mutant, so that they prove nothing.');
    return false;
  }
  const startedMs = performance.now();
  const verdicts = await judgeAll(mutants, roots);
  return summarize(verdicts, ((performance.now() - startedMs) / 1000).toFixed(0));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const [only = ''] = process.argv.slice(2);
const mutants = MUTANTS.filter(({ file, breaks }) => `${file}: ${breaks}`.includes(only));
if (mutants.length === 0) {
  print(`No mutant whose file or phrase holds "${only}".`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'hivenet-router-mutants-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exit((await runSuite(mutants, folder)) ? 0 : 1);
