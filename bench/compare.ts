// `make bench-compare A=… B=…`: the figures of two runs side by side, and by how much the second differs.

import process from 'node:process';
import { formatValue } from './figure.ts';
import { readResult } from './result.ts';

const [pathA, pathB] = process.argv.slice(2);
if (pathA === undefined || pathB === undefined) {
  console.error('Usage: make bench-compare A=bench/results/ONE.json B=bench/results/OTHER.json');
  process.exit(1);
}
const [a, b] = [readResult(pathA), readResult(pathB)];
for (const [name, run] of [
  ['A', a],
  ['B', b],
] as const) {
  console.log(`${name}: ${run.date} · ${run.machine} · ${run.runtime} · load ${run.load.join(' to ')}`);
}
for (const figure of a.figures) {
  const other = b.figures.find(({ title, name }) => title === figure.title && name === figure.name);
  const isBoth = figure.value !== undefined && other?.value !== undefined;
  const change = isBoth ? `${(100 * ((other.value ?? 0) / (figure.value ?? 1) - 1)).toFixed(0)} %` : '';
  const values = [figure, other ?? { value: undefined, unit: figure.unit }].map((one) => formatValue(one).padStart(14));
  console.log(`${`${figure.title}: ${figure.name}`.padEnd(88)} ${values.join(' ')} ${change.padStart(7)}`.trimEnd());
}
