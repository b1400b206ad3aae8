// What a benchmark found, for a reader and for the harness: each file prints its figures as text when it is run alone, and
// as lines of JSON when the harness asks for them.

import process from 'node:process';
import { formatBound, isMet, TARGETS, type TargetId, type Unit } from './targets.ts';

export interface Figure {
  readonly name: string;
  /** Undefined: not measured, and `note` says why. */
  readonly value: number | undefined;
  readonly unit: Unit;
  /** The row of the table that this answers. */
  readonly target?: TargetId;
  /** For ratios without a row: what it must stay below, or something has broken. */
  readonly atMost?: number;
  /** The absolute times behind a ratio, or why there is no figure. */
  readonly note?: string;
}

/** Whether lines of JSON are asked for. */
const IS_JSON = process.argv.includes('--json');

/** Whether the harness is in a hurry: shorter rounds, noisier figures. */
export const IS_QUICK = process.argv.includes('--quick');

export function tell(title: string, found: readonly Figure[]): void {
  const figures = found.map((figure) => (Number.isFinite(figure.value) ? figure : notMeasured(figure)));
  if (IS_JSON) for (const figure of figures) console.log(JSON.stringify({ title, ...figure }));
  else console.log([title, ...figures.map(formatFigure)].join('\n'));
}

/** JSON has no NaN, which is what comes of a time that the system does not tell. */
function notMeasured({ note = 'this system does not tell it', ...figure }: Figure): Figure {
  return { ...figure, value: undefined, note };
}

function formatFigure(figure: Figure): string {
  const { name, note = '' } = figure;
  return `  ${name.padEnd(58)} ${formatValue(figure).padStart(12)}  ${boundOf(figure).padEnd(22)} ${note}`.trimEnd();
}

export function formatValue({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (value === undefined) return 'not measured';
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0, useGrouping: true })} ${unit}`;
}

function boundOf({ target, atMost, unit, value }: Figure): string {
  const bound = target === undefined ? { unit, ...(atMost === undefined ? {} : { atMost }) } : TARGETS[target];
  if (target === undefined && atMost === undefined) return '';
  if (value === undefined) return formatBound({ what: '', ...bound });
  return `${formatBound({ what: '', ...bound })} ${isMet({ what: '', ...bound }, value) ? 'met' : 'NOT MET'}`;
}

/** Whether a figure without a row breaks its own bound. */
export function isBroken({ atMost, value }: Figure): boolean {
  return atMost !== undefined && value !== undefined && value > atMost;
}
