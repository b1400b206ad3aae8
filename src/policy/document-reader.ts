// Reads the members of a document that a person wrote and gathers every broken rule, so that who made three mistakes
// reads of all three. What is refused is reported once and then stands for "left out", so that reading can go on.

import type { DocumentFault } from '../lib/document-fault.ts';
import type { JsonValue } from '../lib/strict-json.ts';
import type { Path } from '../lib/strict-yaml.ts';

/** The members of one mapping, and the way to it. */
export interface Mapping {
  readonly path: Path;
  readonly members: ReadonlyMap<string, JsonValue>;
}

/** A value that is there, and the way to it. */
export interface Found {
  readonly path: Path;
  readonly value: JsonValue;
}

export class DocumentReader {
  readonly #faults: DocumentFault[] = [];

  get faults(): readonly DocumentFault[] {
    return this.#faults;
  }

  refuse({ path, value }: Pick<DocumentFault, 'path' | 'value'>, rule: string): undefined {
    this.#faults.push(value === undefined ? { path, rule } : { path, value, rule });
    return undefined;
  }

  /** A mapping whose names are all `known`; each other one is refused with the names that there are. */
  mapping({ path, value }: Found, known: readonly string[], what: string): Mapping | undefined {
    if (value.kind !== 'object') return this.refuse({ path, value }, 'must be a mapping of names to values');
    for (const name of value.members.keys()) {
      if (!known.includes(name))
        this.refuse({ path: [...path, name] }, `unknown ${what}, must be one of ${known.join(', ')}`);
    }
    return { path, members: value.members };
  }

  /** The items of a list of at most `most`; none when it was left out or refused. */
  list(mapping: Mapping, name: string, most: number): readonly Found[] {
    const found = memberOf(mapping, name);
    if (found === undefined) return [];
    if (found.value.kind !== 'array') this.refuse(found, 'must be a list');
    else if (found.value.items.length > most) this.refuse(found, `must have at most ${most} items`);
    else return found.value.items.map((value, index) => ({ path: [...found.path, index], value }));
    return [];
  }

  text(found: Found | undefined, accepts: (text: string) => boolean, rule: string): string | undefined {
    if (found === undefined) return undefined;
    const text = found.value.kind === 'string' && accepts(found.value.value) ? found.value.value : undefined;
    return text ?? this.refuse(found, rule);
  }

  oneOf<const Choice extends string>(found: Found | undefined, choices: readonly Choice[]): Choice | undefined {
    if (found === undefined) return undefined;
    const { value } = found;
    const choice = choices.find((known) => value.kind === 'string' && known === value.value);
    return choice ?? this.refuse(found, `must be one of ${choices.join(', ')}`);
  }

  /** A number that `accepts` takes; it is asked of NaN too, which no comparison lets pass. */
  number(found: Found | undefined, accepts: (value: number) => boolean, rule: string): number | undefined {
    if (found === undefined) return undefined;
    const number = found.value.kind === 'number' ? Number(found.value.lexeme) : Number.NaN;
    return accepts(number) ? number : this.refuse(found, rule);
  }
}

/** Undefined when it is not there, or has nothing behind its colon: all of it may stand in comments. */
export function memberOf({ path, members }: Mapping, name: string): Found | undefined {
  const value = members.get(name);
  return value === undefined || value.kind === 'null' ? undefined : { path: [...path, name], value };
}
