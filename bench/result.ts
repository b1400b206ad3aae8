// A whole run of the benchmarks as a file, so that two of them can be set side by side.

import { readFileSync } from 'node:fs';
import type { Figure } from './figure.ts';

export interface TitledFigure extends Figure {
  readonly title: string;
}

export interface RunResult {
  readonly date: string;
  readonly machine: string;
  readonly runtime: string;
  /** Of the machine, before and after. */
  readonly load: readonly [number, number];
  readonly isQuick: boolean;
  readonly figures: readonly TitledFigure[];
}

export function readResult(path: string): RunResult {
  return JSON.parse(readFileSync(path, 'utf8')) as RunResult;
}
