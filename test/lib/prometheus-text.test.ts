import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { LABELS_MAX, LINE_MAX_CHARS, readNumber, readSamples, SAMPLES_MAX } from '../../src/lib/prometheus-text.ts';

const NAMES = new Set(['m', 'ns:m_total']);

/** Samples as plain values. */
function read(text: string, names: ReadonlySet<string> = NAMES) {
  return readSamples(text, names).map(({ name, labels, value }) => [name, Object.fromEntries(labels), value]);
}

describe('readSamples()', () => {
  const good: readonly (readonly [line: string, labels: object, value: number])[] = [
    ['m 1', {}, 1],
    ['m\t-1.5e+3', {}, -1500],
    ['m 1 1796000000000', {}, 1],
    ['m 1 -5', {}, 1],
    ['m 1 \r', {}, 1],
    ['m{} 2', {}, 2],
    ['m{}2', {}, 2],
    ['m {a="b"} 2', { a: 'b' }, 2],
    ['m{a="b"} 3', { a: 'b' }, 3],
    ['m{a="b",} 3', { a: 'b' }, 3],
    ['m{ a = "b" , c="" } 3', { a: 'b', c: '' }, 3],
    ['m{a="x} 9 # {"} 3', { a: 'x} 9 # {' }, 3],
    [String.raw`m{a="q\"b\\n\n."} 4`, { a: 'q"b\\n\n.' }, 4],
    ['m{le="+Inf"} 0', { le: '+Inf' }, 0],
    ['m{a="ü"} 1', { a: 'ü' }, 1],
  ];
  for (const [line, labels, value] of good) {
    it(`reads ${JSON.stringify(line)}`, () => {
      for (const text of [line, `${line}\n`, `# HELP m x\n\n${line}\nother 1\n`]) {
        assert.deepEqual(read(text), [['m', labels, value]]);
      }
    });
  }

  const broken = [
    'm',
    'm ',
    'm x',
    'm 1 x',
    'm 1 2 3',
    'm 0x10',
    'm 1_000',
    'm 1 # {trace_id="a"} 1',
    'm{a="b"',
    'm{a="b} 1',
    'm{a=b} 1',
    'm{a} 1',
    'm{="b"} 1',
    'm{1a="b"} 1',
    'm{a="b"c="d"} 1',
    'm{a="b"} 1} 1',
    'm{,} 1',
    'm{a="b",,} 1',
    'm{a="1",a="2"} 1',
    String.raw`m{a="\t"} 1`,
    String.raw`m{a="b\"} 1`,
    '#m 1',
    '"m" 1',
    '{"m"} 1',
  ];
  for (const line of broken) {
    it(`passes over ${JSON.stringify(line)} and reads on`, () => {
      assert.deepEqual(read(`${line}\nm 7\n`), [['m', {}, 7]]);
    });
  }

  it('reads the asked names only, whole names and no longer ones, in the order of the text', () => {
    const text = 'ns:m_total 1\nns:m_totals 2\nns:m 3\nm_bucket 4\nm 5\nns:m_total{a="b"} 6\n';
    assert.deepEqual(read(text), [
      ['ns:m_total', {}, 1],
      ['m', {}, 5],
      ['ns:m_total', { a: 'b' }, 6],
    ]);
  });

  it('reads lines that end in CRLF, and a last line without end', () => {
    assert.deepEqual(read('m 1\r\n# c\r\nm{a="b"} 2\r\nm 3'), [
      ['m', {}, 1],
      ['m', { a: 'b' }, 2],
      ['m', {}, 3],
    ]);
  });

  it('reads NaN and both infinities', () => {
    const values = readSamples('m NaN\nm +Inf\nm -Inf\nm Inf\n', NAMES).map(({ value }) => value);
    assert.deepEqual(values, [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it(`reads a line of ${LINE_MAX_CHARS} characters, and none with one more`, () => {
    const line = (length: number) => `m{a="${'x'.repeat(length - 9)}"} 1`;
    assert.equal(line(LINE_MAX_CHARS).length, LINE_MAX_CHARS);
    assert.equal(read(`${line(LINE_MAX_CHARS)}\nm 2`).length, 2);
    assert.equal(read(`${line(LINE_MAX_CHARS + 1)}\nm 2`).length, 1);
  });

  it(`reads ${LABELS_MAX} labels, and no sample with one more`, () => {
    const line = (count: number) => `m{${Array.from({ length: count }, (_, index) => `l${index}="v"`).join(',')}} 1\n`;
    assert.equal(read(line(LABELS_MAX)).length, 1);
    assert.equal(read(line(LABELS_MAX + 1)).length, 0);
  });

  it(`returns the first ${SAMPLES_MAX} samples`, () => {
    const text = Array.from({ length: SAMPLES_MAX + 1 }, (_, index) => `m ${index}\n`).join('');
    const samples = readSamples(text, NAMES);
    assert.equal(samples.length, SAMPLES_MAX);
    assert.equal(samples.at(-1)?.value, SAMPLES_MAX - 1);
    assert.equal(readSamples(text.slice(4), NAMES).length, SAMPLES_MAX);
  });

  it('takes no longer than linear time for a label that never ends', () => {
    const line = `m{a="${'\\\\'.repeat(30_000)}`;
    const startMs = performance.now();
    assert.deepEqual(read(line), []);
    assert.ok(performance.now() - startMs < 1000);
  });

  it('reads back whatever labels and values a writer writes', () => {
    const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    const labels = fc.dictionary(
      fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/),
      // A lone CR ends no line here, and a writer has no escape for it.
      fc.string({ unit: 'binary', maxLength: 20 }),
      { maxKeys: 5, noNullPrototype: true },
    );
    const value = fc.double({ noNaN: true });
    return fc.assert(
      fc.property(labels, value, (given, number) => {
        const list = Object.entries(given).map(([name, text]) => `${name}="${escaped(text)}"`);
        const text = Number.isFinite(number) ? String(number) : `${number > 0 ? '+' : '-'}Inf`;
        const [sample] = readSamples(`m{${list.join(',')}} ${text}\n`, NAMES);
        assert.deepEqual(new Map(Object.entries(given)), sample?.labels);
        assert.ok(sample?.value === number, `${text} read as ${sample?.value}`);
      }),
    );
  });

  it('never throws, and finds no sample outside the names, in any text', () => {
    const piece = fc.constantFrom(
      'm',
      '{',
      '}',
      '"',
      '\\',
      ',',
      '=',
      ' ',
      '\n',
      '\r',
      'a',
      '1',
      '#',
      '\t',
      'NaN',
      '\u0000',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
    );
    return fc.assert(
      fc.property(texts, (text) => {
        for (const { name, value } of readSamples(text, NAMES)) {
          assert.ok(NAMES.has(name));
          assert.equal(typeof value, 'number');
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readNumber()', () => {
  const cases: readonly (readonly [text: string, value: number | undefined])[] = [
    ['0', 0],
    ['+1.', 1],
    ['.5', 0.5],
    ['1e-3', 0.001],
    ['+Inf', Number.POSITIVE_INFINITY],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['nan', Number.NaN],
    ['', undefined],
    ['.', undefined],
    ['1e', undefined],
    [' 1', undefined],
    ['Infinit', undefined],
    ['١', undefined],
  ];
  for (const [text, value] of cases) {
    it(`of ${JSON.stringify(text)}`, () => assert.deepEqual(readNumber(text), value));
  }
});
