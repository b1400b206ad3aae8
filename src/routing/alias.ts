// Model aliases: names that an operator gives to one model or to several in order of preference. What a name stands for
// is decided for each request anew, by what its key may use and where the models are (decisions.md, "Model aliases").

/** Alias to its models, of which there is at least one. Models are no aliases. */
export type AliasTable = ReadonlyMap<string, readonly string[]>;

export const NO_ALIASES: AliasTable = new Map();

/** What is true of a model for one request: of its key, the kind of its endpoint, its scope and its map. */
export interface AliasFacts {
  readonly mayUse: (model: string) => boolean;
  /** A healthy agent here serves it. */
  readonly isServedHere: (model: string) => boolean;
  /** The map places it, for the kind, at this site or at a site inside the scope. */
  readonly isPlaced: (model: string) => boolean;
}

/**
 * The first of `models` that the key may use and a healthy agent here serves; else the first it may use that the map
 * places; else the first it may use. Undefined when it may use none: 403.
 */
export function resolveAlias(models: readonly string[], facts: AliasFacts): string | undefined {
  const usable = models.filter(facts.mayUse);
  return usable.find(facts.isServedHere) ?? usable.find(facts.isPlaced) ?? usable[0];
}
