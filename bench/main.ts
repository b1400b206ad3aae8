// `make bench`: every benchmark in a process of its own, then the table of targets with what was found for each, and a
// file of all figures. A target that is not met is told, not hidden; exit code 1 means that a benchmark broke.

import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fail } from './fail.ts';
import { formatValue, isBroken } from './figure.ts';
import { load, machineSlug, today } from './machine.ts';
import { headOf, type RunResult, type TitledFigure } from './result.ts';
import { formatBound, isMet, TARGETS, type Target, type TargetId } from './targets.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const RESULTS = 'bench/results';

interface Run {
  readonly figures: readonly TitledFigure[];
  readonly isOk: boolean;
}

/** One file of benchmarks: its lines of JSON, as they come. */
function runFile(file: string, flags: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [file, '--json', ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const figures: TitledFigure[] = [];
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('{')) figures.push(JSON.parse(line) as TitledFigure);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ figures, isOk: code === 0 }));
  });
}

/** Of a part of the files (`only`), the rows that it has a figure for. */
function tableOf(figures: readonly TitledFigure[], only: string): readonly string[] {
  const targets = (Object.entries(TARGETS) as [TargetId, Target][]).filter(
    ([id]) => only === '' || figures.some(({ target }) => target === id),
  );
  if (targets.length === 0) return [];
  const widest = Math.max(...targets.map(([, { what }]) => what.length));
  const head = `\n${'what'.padEnd(widest)}  ${'target'.padEnd(10)} ${'figure'.padStart(14)}`;
  return [head, ...targets.map(([id, target]) => rowOf(id, target, figures, widest))];
}

function rowOf(id: TargetId, target: Target, figures: readonly TitledFigure[], width: number): string {
  const figure = figures.find((one) => one.target === id);
  const start = `${target.what.padEnd(width)}  ${formatBound(target).padEnd(10)}`;
  if (figure?.value === undefined)
    return `${start} ${'not measured'.padStart(14)}  ${figure?.note ?? 'its benchmark broke'}`;
  const verdict = isMet(target, figure.value) ? 'met' : 'not met';
  return `${start} ${formatValue(figure).padStart(14)}  ${verdict.padEnd(8)} ${figure.note ?? ''}`.trimEnd();
}

async function runAll(files: readonly string[], isQuick: boolean): Promise<RunAll> {
  const figures: TitledFigure[] = [];
  const failures: string[] = [];
  for (const file of files) {
    const startedMs = performance.now();
    const run = await runFile(file, isQuick ? ['--quick'] : []);
    figures.push(...run.figures);
    if (!run.isOk) failures.push(`${file} broke`);
    for (const { name, title, atMost } of run.figures.filter(isBroken))
      failures.push(`${title}: ${name} above ${atMost}`);
    process.stderr.write(`${file} ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
  }
  return { figures, failures };
}

interface RunAll {
  readonly figures: readonly TitledFigure[];
  /** What broke, a line each. */
  readonly failures: readonly string[];
}

function linesOf(figures: readonly TitledFigure[]): readonly string[] {
  const titles = [...new Set(figures.map(({ title }) => title))];
  return titles.flatMap((title) => [title, ...figures.filter((figure) => figure.title === title).map(lineOf)]);
}

function lineOf(figure: TitledFigure): string {
  return `  ${figure.name.padEnd(72)} ${formatValue(figure).padStart(14)}  ${figure.note ?? ''}`.trimEnd();
}

/** Under a name of its own when it was quick, which no full result may be replaced by. */
function save(result: RunResult): string {
  const file = `${RESULTS}/${result.date}-${result.machine}${result.isQuick ? '-quick' : ''}.json`;
  const isThere = existsSync(`${ROOT}${file}`);
  mkdirSync(`${ROOT}${RESULTS}`, { recursive: true });
  writeFileSync(`${ROOT}${file}`, `${JSON.stringify(result, undefined, 1)}\n`);
  return isThere ? `${file}, in place of an earlier run of this day` : file;
}

const isQuick = process.argv.includes('--quick');
const [only = '', ...rest] = process.argv.slice(2).filter((argument) => argument !== '--quick');
if (rest.length > 0) fail('Usage: bench/main.ts [--quick] [PART-OF-A-FILE-NAME]');
const all = globSync('bench/**/*.bench.ts', { cwd: ROOT }).toSorted();
const files = all.filter((file) => file.includes(only));
if (files.length === 0) fail(`No benchmark has "${only}" in its file name: ${all.join(', ')}`);
const loadBefore = load();
const { figures, failures } = await runAll(files, isQuick);
const found = { date: today(), machine: machineSlug(), runtime: navigator.userAgent, isQuick, figures };
const result: RunResult = { ...found, load: [loadBefore, load()] };
console.log(`${headOf(result)}\n`);
console.log([...linesOf(figures), ...tableOf(figures, only)].join('\n'));
// A part of the files is no result.
if (only === '') console.log(`\nAll figures: ${save(result)}`);
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
