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

/** Throws when there is no such file, or no result in it. */
export function readResult(path: string): RunResult {
  const result = JSON.parse(readFileSync(path, 'utf8')) as Partial<RunResult> | null;
  if (!Array.isArray(result?.figures) || !Array.isArray(result.load))
    throw new Error('it has no figures of make bench');
  return result as RunResult;
}

/** What was measured when, on what: `Bun/1.4.5 · amd-epyc-2 · 2026-11-30 · load 0.1 to 1.5 · quick`. */
export function headOf({ runtime, machine, date, load, isQuick }: RunResult): string {
  return [runtime, machine, date, `load ${load.join(' to ')}`, ...(isQuick ? ['quick'] : [])].join(' · ');
}
