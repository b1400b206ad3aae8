// Reads the Prometheus text format 0.0.4, and of it only the series that are asked for: an engine's page has thousands
// of lines, and the router wants a few dozen of them twice a second. What is not asked for is passed over unread.

/** Characters of a line that is read; a longer one is passed over. */
export const LINE_MAX_CHARS = 65_536;
/** Labels of a sample; a sample with more is passed over. */
export const LABELS_MAX = 64;
/** Samples that are returned, the first ones of the text. */
export const SAMPLES_MAX = 10_000;

export interface Sample {
  readonly name: string;
  /** Values without their escapes. */
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite: the format allows both. A timestamp behind it is dropped. */
  readonly value: number;
}

/**
 * The samples of the metrics in `names`, in order. Lines end in LF or CRLF. A line that breaks the format is passed
 * over, since an engine's other figures are worth having.
 */
export function readSamples(text: string, names: ReadonlySet<string>): readonly Sample[] {
  const samples: Sample[] = [];
  for (let start = 0; start < text.length && samples.length < SAMPLES_MAX; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const name = text.slice(start, endOfName(text, start, end));
    if (names.has(name) && end - start <= LINE_MAX_CHARS) {
      const sample = readSample(name, text.slice(start + name.length, end));
      if (sample !== undefined) samples.push(sample);
    }
    start = end + 1;
  }
  return samples;
}

const OPEN_BRACE = 0x7b;

/** By character codes, because a pattern per line would cost more than all the rest. */
function endOfName(text: string, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code <= 0x20) return at;
  }
  return end;
}

/** Value, and a timestamp in milliseconds that nobody needs. */
const VALUE = /^[ \t]+([^ \t\r]+)(?:[ \t]+-?\d+)?[ \t]*\r?$/;

function readSample(name: string, rest: string): Sample | undefined {
  const opened = /^[ \t]*\{/.exec(rest);
  const labels = opened === null ? { values: new Map<string, string>(), end: 0 } : readLabels(rest, opened[0].length);
  if (labels === undefined) return undefined;
  // Behind a brace the blank may be missing.
  const tail = opened === null ? rest : ` ${rest.slice(labels.end)}`;
  const value = readNumber(VALUE.exec(tail)?.[1] ?? '');
  return value === undefined ? undefined : { name, labels: labels.values, value };
}

/** One label with the comma behind it, which only the last one may lack. */
const LABEL = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\[\\"n][^"\\]*)*)"[ \t]*(?:,|(?=\}))/y;
const CLOSE = /[ \t]*\}/y;

/** Labels from behind the opening brace, and where the closing one ends. */
function readLabels(text: string, start: number): { values: Map<string, string>; end: number } | undefined {
  const values = new Map<string, string>();
  let at = start;
  for (let label = matchAt(LABEL, text, at); label !== undefined; label = matchAt(LABEL, text, at)) {
    const [whole, name = '', value = ''] = label;
    if (values.has(name) || values.size === LABELS_MAX) return undefined;
    values.set(name, unescaped(value));
    at += whole.length;
  }
  const close = matchAt(CLOSE, text, at);
  return close === undefined ? undefined : { values, end: at + close[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function unescaped(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replace(/\\([\\"n])/g, (_escape, code: string) => (code === 'n' ? '\n' : code));
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** A number as the format writes it, also in the `le` of a bucket; undefined for any other text. */
export function readNumber(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const [, sign] = INFINITE.exec(text) ?? [];
  if (sign !== undefined) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^nan$/i.test(text) ? Number.NaN : undefined;
}
