// The query of a URL as raw parts with decoded names, so that the one who authenticates, the one who forwards and the
// one who redacts agree on which part is which (D-25, D-70).

export interface QueryPart {
  /** The part as sent, `name=value`, without `&`. */
  readonly raw: string;
  /** Its name as the WHATWG query parser decodes it. */
  readonly name: string;
}

/** A request target in two: what stands before its first `?`, and from there on the query; '' without one. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) };
}

/** Splits `?a=1&b` (the leading `?` is optional) in order. Joined by `&`, the raw parts are the query again. */
export function queryParts(search: string): readonly QueryPart[] {
  const text = search.startsWith('?') ? search.slice(1) : search;
  return text === '' ? [] : text.split('&').map((raw) => ({ raw, name: nameOf(raw) }));
}

function nameOf(raw: string): string {
  const end = raw.indexOf('=');
  const name = end === -1 ? raw : raw.slice(0, end);
  // A query may have thousands of parts, and making a parser for each would cost milliseconds.
  if (!name.includes('%') && !name.includes('+')) return name;
  // With its own "?", or a part that begins with one would lose it, and the parser and we would disagree on its name.
  const [first] = new URLSearchParams(`?${raw}`);
  return first === undefined ? '' : first[0];
}
