import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import type { Result } from '../../src/lib/result.ts';
import type { AliasTable } from '../../src/routing/alias.ts';
import { ALIASES_MAX_BYTES, parseAliasFile, parseAliasPush } from '../../src/routing/alias-document.ts';
import { ALIASES_MAX, MODELS_PER_ALIAS_MAX, type WhyReal } from '../../src/routing/alias-table.ts';

const NONE: WhyReal = () => undefined;
const REAL: WhyReal = (name) => (name === 'real' ? 'an agent here serves it' : undefined);
const ALIAS_RULE = 'an alias must be text of 1 to 256 bytes without control characters';
const MODEL_RULE = 'a model must be text of 1 to 256 bytes without control characters';
const CHAINED = 'is an alias itself, and aliases do not chain';

type Read = Result<AliasTable, readonly string[]>;

function shown(read: Read): unknown {
  return read.ok ? Object.fromEntries(read.value) : read.fault;
}

const file = (text: string, whyReal = NONE): unknown => shown(parseAliasFile(text, whyReal));
const push = (body: unknown, whyReal = NONE): unknown =>
  shown(parseAliasPush(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), whyReal));

/** `count` aliases of one model each. */
const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`alias-${index}`, 'm']));
const models = (count: number): string[] => Array.from({ length: count }, (_, index) => `m-${index}`);

describe('parseAliasFile()', () => {
  it('reads one model, and a list in its order', () => {
    assert.deepEqual(file('auto: [llama-3-70b, llama-3-8b]\nfast: llama-3-8b\n"4.1":\n  - org/模型:1\n'), {
      auto: ['llama-3-70b', 'llama-3-8b'],
      fast: ['llama-3-8b'],
      '4.1': ['org/模型:1'],
    });
  });

  it('reads {} as no aliases, and refuses an empty file, which an editor leaves for a moment', () => {
    assert.deepEqual(file('{}'), {});
    for (const text of ['', '\n', '# auto: x', '---\n']) {
      assert.match(String(file(text)), /^line \d, column \d: must map each alias to its models$/);
    }
  });

  it('tells every fault with its line, path, value and rule', () => {
    const text = 'real: [a, a, 42, auto, {}, []]\nauto:\n  - true\n  - ~\n"": x\nx:\ny: []\nz: [""]\n';
    assert.deepEqual(file(text, REAL), [
      'line 1, column 1: "real": would hide the model of that name: an agent here serves it',
      'line 1, column 11: "real"[1] "a": is listed twice',
      `line 1, column 14: "real"[2] 42: ${MODEL_RULE}`,
      `line 1, column 18: "real"[3] "auto": ${CHAINED}`,
      `line 1, column 24: "real"[4] {…}: ${MODEL_RULE}`,
      `line 1, column 28: "real"[5] […]: ${MODEL_RULE}`,
      `line 3, column 5: "auto"[0] true: ${MODEL_RULE}`,
      `line 4, column 5: "auto"[1] null: ${MODEL_RULE}`,
      `line 5, column 1: "": ${ALIAS_RULE}`,
      `line 5, column 1: "" "x": ${CHAINED}`,
      `line 6, column 1: "x" null: ${MODEL_RULE}`,
      'line 7, column 1: "y": must list 1 to 32 models',
      `line 8, column 5: "z"[0] "": ${MODEL_RULE}`,
    ]);
  });

  it('refuses what is no mapping, without repeating it: it may be the wrong file', () => {
    for (const text of ['sk-secret', '- sk-secret', 'k1:sk-secret\nk2:sk-secret']) {
      assert.deepEqual(file(text), ['line 1, column 1: must map each alias to its models']);
    }
  });

  it('refuses text that has no bytes', () => {
    assert.deepEqual(file('a: "\\ud800"'), [`line 1, column 1: "a" "\ufffd": ${MODEL_RULE}`]);
    assert.deepEqual(file('"\\ud800": m'), [`line 1, column 1: "\ufffd": ${ALIAS_RULE}`]);
  });

  it('refuses what can make a short file large, and a name that is given twice', () => {
    assert.deepEqual(file('a: &x [b]\nc: *x'), ['line 2, column 4: aliases (*name) are not supported']);
    assert.deepEqual(file('a: b\na: c'), ['line 2, column 1: this name was given before']);
  });

  it(`takes ${ALIASES_MAX_BYTES} bytes of text, and no more`, () => {
    const text = `a: m # ${'é'.repeat((ALIASES_MAX_BYTES - 8) / 2)}`;
    assert.equal(Buffer.byteLength(text), ALIASES_MAX_BYTES - 1);
    assert.deepEqual(file(`${text}x`), { a: ['m'] });
    assert.deepEqual(file(`${text}xx`), [`larger than ${ALIASES_MAX_BYTES} bytes`]);
  });

  it('tells 20 faults and counts the rest', () => {
    const faults = (count: number): readonly string[] =>
      file(Array.from({ length: count }, (_, index) => `a-${index}: 1\n`).join('')) as string[];
    assert.equal(faults(20).length, 20);
    assert.doesNotMatch(faults(20).join(), /more/);
    assert.equal(faults(21).length, 21);
    assert.equal(faults(21).at(-1), 'and 1 more');
    assert.equal(faults(25).at(-1), 'and 5 more');
  });
});

describe('parseAliasPush()', () => {
  it('reads what it shows, and names that objects have by themselves', () => {
    assert.deepEqual(push({ aliases: { auto: ['a', 'b'], fast: 'a' } }), { auto: ['a', 'b'], fast: ['a'] });
    assert.deepEqual(push({ aliases: {} }), {});
    assert.deepEqual(push('{"aliases":{"constructor":"m"}}'), { constructor: ['m'] });
    const read = parseAliasPush(Buffer.from('{"aliases":{"__proto__":"m"}}'), NONE);
    assert.deepEqual(read.ok && read.value.get('__proto__'), ['m']);
  });

  const refused: readonly (readonly [string, unknown, ...string[]])[] = [
    ['no JSON', '{"aliases":', 'body: expected a value at byte 11'],
    ['a name twice', '{"aliases":{"a":"m","a":"n"}}', 'body: duplicate name "a" at byte 20'],
    ['data after it', '{"aliases":{}} x', 'body: data after the document at byte 15'],
    ['a list', [], 'body: must be an object with "aliases" and no other member'],
    ['nothing', {}, 'body: must be an object with "aliases" and no other member'],
    ['more than it', { aliases: {}, version: 1 }, 'body: must be an object with "aliases" and no other member'],
    ['another case', { Aliases: {} }, 'body: must be an object with "aliases" and no other member'],
    ['null', { aliases: null }, 'aliases: must map each alias to its models'],
    ['a list of aliases', { aliases: ['a'] }, 'aliases: must map each alias to its models'],
    [
      'bad entries, all of them',
      { aliases: { real: 1, a: ['m', 'real', 'm'], b: [] } },
      'aliases."real": would hide the model of that name: an agent here serves it',
      `aliases."real" 1: ${MODEL_RULE}`,
      `aliases."a"[1] "real": ${CHAINED}`,
      'aliases."a"[2] "m": is listed twice',
      'aliases."b": must list 1 to 32 models',
    ],
    ['itself as its model', { aliases: { a: 'a' } }, `aliases."a" "a": ${CHAINED}`],
  ];
  for (const [what, body, ...faults] of refused) {
    it(`refuses ${what}`, () => assert.deepEqual(push(body, REAL), faults));
  }

  it(`takes ${ALIASES_MAX_BYTES} bytes, and no more`, () => {
    const text = '{"aliases":{"a":"m"}}';
    assert.deepEqual(push(text.padEnd(ALIASES_MAX_BYTES)), { a: ['m'] });
    assert.deepEqual(push(text.padEnd(ALIASES_MAX_BYTES + 1)), [`body: larger than ${ALIASES_MAX_BYTES} bytes`]);
  });

  it(`takes ${ALIASES_MAX} aliases, and no more`, () => {
    assert.equal(Object.keys(push({ aliases: many(ALIASES_MAX) }) as object).length, ALIASES_MAX);
    assert.deepEqual(push({ aliases: many(ALIASES_MAX + 1) }), [`aliases: more than ${ALIASES_MAX} aliases`]);
  });

  it(`takes ${MODELS_PER_ALIAS_MAX} models an alias, and no more`, () => {
    assert.deepEqual(push({ aliases: { a: models(MODELS_PER_ALIAS_MAX) } }), { a: models(MODELS_PER_ALIAS_MAX) });
    const fault = `aliases."a": must list 1 to ${MODELS_PER_ALIAS_MAX} models`;
    assert.deepEqual(push({ aliases: { a: models(MODELS_PER_ALIAS_MAX + 1) } }), [fault]);
  });

  it('takes names of 1 to 256 bytes, of alias and model alike', () => {
    for (const name of ['x', 'x'.repeat(256), 'é'.repeat(128), 'org/a b:c']) {
      assert.deepEqual(push({ aliases: { [name]: 'm' } }), { [name]: ['m'] });
      assert.deepEqual(push({ aliases: { a: name } }), { a: [name] });
    }
    for (const name of ['', 'x'.repeat(257), `${'é'.repeat(128)}x`, 'a\nb', 'a\u0085b', '\u0000']) {
      assert.match(String(push({ aliases: { [name]: 'm' } })), new RegExp(`^aliases\\.".*": ${ALIAS_RULE}$`));
      assert.match(String(push({ aliases: { a: name } })), new RegExp(`^aliases\\."a" ".*": ${MODEL_RULE}$`));
    }
  });

  it('shows values short and on one line', () => {
    const [fault = ''] = push({ aliases: { a: `${'y'.repeat(300)}\n` } }) as string[];
    assert.equal(fault, `aliases."a" "${'y'.repeat(80)}…": ${MODEL_RULE}`);
    const digits = push(`{"aliases":{"a":${'9'.repeat(300)}}}`) as string[];
    assert.deepEqual(digits, [`aliases."a" ${'9'.repeat(80)}: ${MODEL_RULE}`]);
    const [other = ''] = push({ aliases: { 'a\u2028b\u0085\n': 'm' } }) as string[];
    assert.equal(other, `aliases."a?b?\\n": ${ALIAS_RULE}`);
  });

  it('gives lists that nobody can change', () => {
    const read = parseAliasPush(Buffer.from('{"aliases":{"a":["m"]}}'), NONE);
    assert.ok(read.ok && Object.isFrozen(read.value.get('a')));
  });
});
