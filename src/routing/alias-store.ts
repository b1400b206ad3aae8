// The alias table in force, replaced whole, and which of its names a real model was found to have.

import { type AliasTable, NO_ALIASES } from './alias.ts';

export class AliasStore {
  #table: AliasTable;
  readonly #hidden = new Set<string>();

  constructor(table: AliasTable = NO_ALIASES) {
    this.#table = table;
  }

  current(): AliasTable {
    return this.#table;
  }

  replace(table: AliasTable): void {
    this.#table = table;
    this.#hidden.clear();
  }

  /** Notes that a real model has the name of this alias; whether that is news since the table came. */
  noteHidden(alias: string): boolean {
    const isNews = !this.#hidden.has(alias);
    this.#hidden.add(alias);
    return isNews;
  }
}
