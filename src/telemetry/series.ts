// What requests add up to, for each combination of label values. A request finds its figures by a few look-ups and adds
// plain numbers to them; prom-client, which hashes and checks all labels again at each call, only reads them at a scrape.
// Bounded, for keys, owners and pushed agents could bring more names than a Prometheus can hold.

/** Combinations of one family that have figures of their own. */
export const SERIES_MAX = 10_000;

/** The value of every label of what comes beyond. */
const OTHER = 'other';

type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

interface Entry<Name extends string, Figures> {
  readonly labels: Readonly<Record<Name, string>>;
  readonly figures: Figures;
}

/** The value of one label leads to those of the next, so that no two combinations can be taken for each other. */
interface Branch<Found> {
  readonly next: Map<string, Branch<Found>>;
  found: Found | undefined;
}

export class Series<const Names extends readonly string[], Figures> {
  readonly names: Names;
  readonly #start: () => Figures;
  readonly #max: number;
  readonly #root: Branch<Figures> = newBranch();
  readonly #entries: Entry<Names[number], Figures>[] = [];
  #other: Figures | undefined;

  /** `start` makes the figures of a new combination. */
  constructor(names: Names, start: () => Figures, max: number = SERIES_MAX) {
    this.names = names;
    this.#start = start;
    this.#max = max;
  }

  /** Of these values, in the order of the names; beyond the bound all are counted as `other`. */
  of(values: Values<Names>): Figures {
    let branch = this.#root;
    for (const value of values) {
      const next = branch.next.get(value);
      if (next === undefined) return this.#begin(values);
      branch = next;
    }
    return branch.found ?? this.#begin(values);
  }

  /** All that there are, in the order of their coming. */
  get entries(): readonly Entry<Names[number], Figures>[] {
    return this.#entries;
  }

  #begin(values: readonly string[]): Figures {
    if (this.#entries.length < this.#max) return this.#plant(values);
    // A name can be that very word: two series with the same labels would be no metric.
    this.#other ??= this.#plant(this.names.map(() => OTHER));
    return this.#other;
  }

  /** The figures of these values, made if need be. */
  #plant(values: readonly string[]): Figures {
    let branch = this.#root;
    for (const value of values) {
      const next = branch.next.get(value) ?? newBranch();
      branch.next.set(value, next);
      branch = next;
    }
    branch.found ??= this.#list(values);
    return branch.found;
  }

  #list(values: readonly string[]): Figures {
    const labels = Object.fromEntries(this.names.map((name, index) => [name, values[index] ?? ''])) as Record<
      Names[number],
      string
    >;
    const figures = this.#start();
    this.#entries.push({ labels, figures });
    return figures;
  }
}

function newBranch<Found>(): Branch<Found> {
  return { next: new Map(), found: undefined };
}
