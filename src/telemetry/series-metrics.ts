// Series as metrics of prom-client, which writes them out: counters and histograms whose values it asks for at each
// scrape, and is told at no other time.

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Histogram from 'prom-client/lib/histogram.js';
import { Distribution } from './distribution.ts';
import { Series } from './series.ts';

interface Family {
  readonly name: string;
  readonly help: string;
  readonly registers: Registry[];
  /** Labels with one value for all. */
  readonly constant?: Readonly<Record<string, string>>;
}

type Read<Figures> = (figures: Figures) => number | undefined;

/** `read` tells a counter's value; undefined: there is none yet. */
export class SeriesCounter<const Names extends readonly string[], Figures> extends Counter {
  readonly #values: () => ReturnType<typeof valuesOf>;

  constructor({ constant = {}, ...family }: Family, series: Series<Names, Figures>, read: Read<Figures>) {
    super({ ...family, labelNames: [...series.names, ...Object.keys(constant)] });
    this.#values = () => valuesOf(series, read, constant);
  }

  override async get() {
    return { ...(await super.get()), values: this.#values() };
  }
}

function valuesOf<Names extends readonly string[], Figures>(
  series: Series<Names, Figures>,
  read: Read<Figures>,
  constant: Readonly<Record<string, string>>,
) {
  return series.entries.flatMap(({ labels, figures }) => {
    const value = read(figures);
    return value === undefined ? [] : [{ labels: { ...labels, ...constant }, value }];
  });
}

/** A histogram that keeps a {@link Distribution} for each combination of labels, at most `max`. */
export class SeriesHistogram<const Names extends readonly string[]> extends Histogram {
  readonly #series: Series<Names, Distribution>;
  readonly #family: Family & { readonly buckets: readonly number[] };

  constructor(family: Family & { readonly buckets: readonly number[] }, labelNames: Names, max?: number) {
    super({ ...family, labelNames, buckets: [...family.buckets] });
    this.#family = family;
    this.#series = new Series(labelNames, () => new Distribution(family.buckets), max);
  }

  /** Where values with these labels are observed. */
  of(...values: Parameters<Series<Names, Distribution>['of']>): Distribution {
    return this.#series.of(...values);
  }

  /** What the registry writes out, and `get()` makes of it. */
  getForPromString() {
    const { name, help } = this.#family;
    const values = this.#series.entries.flatMap(({ labels, figures }) => linesOf(name, labels, figures));
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values });
  }
}

function linesOf(name: string, sharedLabels: object, { cumulated, count, sum }: Distribution) {
  const line = (suffix: string, value: number, labels = {}) => ({
    metricName: `${name}_${suffix}`,
    labels,
    sharedLabels,
    value,
  });
  return [
    ...cumulated.map(([le, value]) => line('bucket', value, { le })),
    line('bucket', count, { le: '+Inf' }),
    line('sum', sum),
    line('count', count),
  ];
}
