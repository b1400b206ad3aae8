// `make bench-compare A=… B=…`: the figures of two runs side by side, and by how much the second differs.

import process from 'node:process';
import { fail } from './fail.ts';
import { formatValue } from './figure.ts';
import { headOf, type RunResult, readResult, type TitledFigure } from './result.ts';

function read(path: string): RunResult {
  try {
    return readResult(path);
  } catch (error) {
    return fail(`Cannot read the result "${path}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

const nameOf = ({ title, name }: TitledFigure): string => `${title}: ${name}`;

function lineOf(name: string): string {
  const [one, other] = [a, b].map(({ figures }) => figures.find((figure) => nameOf(figure) === name));
  const isBoth = one?.value !== undefined && other?.value !== undefined && one.unit === other.unit;
  const change = isBoth ? `${(100 * ((other.value ?? 0) / (one.value ?? 1) - 1)).toFixed(0)} %` : '';
  const values = [one, other].map((figure) => (figure === undefined ? '–' : formatValue(figure)).padStart(14));
  return `${name.padEnd(88)} ${values.join(' ')} ${change.padStart(7)}`.trimEnd();
}

const [pathA = '', pathB = ''] = process.argv.slice(2);
if (pathA === '' || pathB === '') fail('Usage: make bench-compare A=bench/results/ONE.json B=bench/results/OTHER.json');
const [a, b] = [read(pathA), read(pathB)];
console.log(`A: ${headOf(a)}\nB: ${headOf(b)}`);
// Those that only B has come last.
for (const name of new Set([...a.figures, ...b.figures].map(nameOf))) console.log(lineOf(name));
