import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '../../src/lib/strict-json.ts';
import { type Path, parseStrictYaml } from '../../src/lib/strict-yaml.ts';

/** The value as plain data, a number as its lexeme in angle brackets. */
function plain(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return [...value.members].map(([name, member]) => [name, plain(member)]);
    case 'array':
      return value.items.map(plain);
    case 'number':
      return `<${value.lexeme}>`;
    case 'null':
    case 'shaped':
      return null;
    default:
      return value.value;
  }
}

function read(text: string, maxDepth = 4): unknown {
  const document = parseStrictYaml(text, { depth: maxDepth });
  return document.ok ? plain(document.value.value) : faultsOf(text, maxDepth);
}

function faultsOf(text: string, maxDepth = 4): readonly string[] {
  const document = parseStrictYaml(text, { depth: maxDepth });
  return document.ok ? [] : document.fault.map(({ line, column, rule }) => `${line}:${column} ${rule}`);
}

const NOT_TEXT = 'a name must be text: put it in quotes';
const TAGGED = 'tags are not supported';

describe('parseStrictYaml()', () => {
  const accepted: readonly (readonly [string, unknown])[] = [
    [
      'a: b\nc: [d, "e", \'f\']\n',
      [
        ['a', 'b'],
        ['c', ['d', 'e', 'f']],
      ],
    ],
    ['a:\r\n  - b\r\n  - c\r\n', [['a', ['b', 'c']]]],
    ['{"a": {"b": []}}', [['a', [['b', []]]]]],
    ['---\na: b # why\n...\n', [['a', 'b']]],
    ['\ufeffa: b', [['a', 'b']]],
    ['', null],
    ['# nothing', null],
    ['~', null],
    // YAML 1.2: what 1.1 took for booleans, octal numbers, dates and merges is text, or what it looks like.
    ['[yes, no, on, off, 2024-01-01, 1:30]', ['yes', 'no', 'on', 'off', '2024-01-01', '1:30']],
    [
      '[true, False, null, 1, -1.50, 0x1F, 1e3, .inf]',
      [true, false, null, '<1>', '<-1.50>', '<0x1F>', '<1e3>', '<.inf>'],
    ],
    ['<<: {a: b}', [['<<', [['a', 'b']]]]],
    ['%YAML 1.1\n---\n- yes\n- <<: {a: b}', ['yes', [['<<', [['a', 'b']]]]]],
    ['["1", "true", "~", ""]', ['1', 'true', '~', '']],
    [
      '__proto__: a\nconstructor: b',
      [
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ],
    ],
    ['a: &name b', [['a', 'b']]],
    ['a: |\n  b\n  c\n', [['a', 'b\nc\n']]],
  ];
  for (const [text, value] of accepted) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(read(text), value));
  }

  const refused: readonly (readonly [string, ...string[]])[] = [
    ['a: b\nc: d\na: e', '3:1 this name was given before'],
    ['{a: b, "a": c}', '1:8 this name was given before'],
    ['a: &x b\nc: *x', '2:4 aliases (*name) are not supported'],
    ['a: &x b\n*x : c', `2:1 ${NOT_TEXT}`],
    ['a: *x', '1:4 aliases (*name) are not supported'],
    ['a: !!str 5', `1:10 ${TAGGED}`],
    ['a: !!binary aGk=', `1:13 ${TAGGED}`],
    ['a: !!set {x}', `1:10 ${TAGGED}`],
    ['!!seq [a]', `1:7 ${TAGGED}`],
    ['a: !secret x', `1:4 ${TAGGED}`],
    ['%FOO b\n---\na: b', '1:1 an unknown or broken directive'],
    ['!!str a: b', `1:7 ${NOT_TEXT}`],
    [
      '1: a\n~: b\ntrue: c\n[d]: e\n? {f: g}\n: h',
      `1:1 ${NOT_TEXT}`,
      `2:1 ${NOT_TEXT}`,
      `3:1 ${NOT_TEXT}`,
      `4:1 ${NOT_TEXT}`,
      `5:3 ${NOT_TEXT}`,
    ],
    ['a: b\n---\nc: d', '2:1 more than one document'],
    ['a:\n\t- b', '2:1 Tabs are not allowed as indentation'],
  ];
  for (const [text, ...faults] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.deepEqual(faultsOf(text), faults));
  }

  it('repeats nothing of the text in a fault: it may be a secret in the wrong file', () => {
    for (const text of [
      'a: } "sk-secret" }',
      'a: [b] sk-secret',
      'x: y: sk-secret',
      '!sk-secret a: b',
      `!sk-secret${'!'.repeat(99)}`,
      '!sk-secret! a',
      '%YAML sk-secret\n---\na: b',
      '%sk-secret\n---\na: b',
      'a: *sk-secret',
    ]) {
      const faults = faultsOf(text);
      assert.ok(faults.length > 0, text);
      assert.doesNotMatch(faults.join('\n'), /sk-secret/);
    }
  });

  it('takes as many levels as it is told, and no more', () => {
    assert.deepEqual(read('[[[]]]', 3), [[[]]]);
    assert.deepEqual(faultsOf('[[[]]]', 2), ['1:3 nested too deep']);
    assert.deepEqual(faultsOf('a:\n  b:\n    c: d', 2), ['3:5 nested too deep']);
  });

  it('refuses nesting that would exhaust the stack, instead of throwing', () => {
    for (const text of ['['.repeat(50_000), '- '.repeat(50_000), '? '.repeat(50_000), `${'{a: '.repeat(50_000)}`]) {
      assert.match(faultsOf(text).join('\n'), /nested too deep/);
    }
  });

  it('tells a fault once, however many levels it is in', () => {
    const told = faultsOf('['.repeat(5_000));
    assert.deepEqual(told, [...new Set(told)]);
  });

  it('tells what is wrong in whole words, also where the library quotes a colon', () => {
    const long = faultsOf(`${'n'.repeat(1_030)}: a`);
    assert.deepEqual(long, ['1:1 a name of more than 1024 characters, or without its value on the same line']);
    assert.deepEqual(
      faultsOf('{"a":b, c:d e:f: g}').filter((line) => / (after|,|The)$/.test(line.trim())),
      [],
    );
    assert.ok(faultsOf('["a" "b": c]').every((line) => !/(or|after) ?$/.test(line)));
  });

  it('takes as many tokens as it is told, and stops reading at one more', () => {
    const tokens = (text: string, most: number) => parseStrictYaml(text, { depth: 4, tokens: most });
    const least = Array.from({ length: 30 }, (_, most) => most).find((most) => tokens('[a, b]', most).ok) ?? 0;
    assert.ok(least > 5 && least < 15);
    const rule = `more than ${least - 1} words, marks and gaps`;
    assert.deepEqual(tokens('[a, b]', least - 1), { ok: false, fault: [{ line: 1, column: 1, rule }] });
    const startedMs = performance.now();
    assert.ok(!tokens(`[${'a,'.repeat(2_000_000)}]`, 1_000).ok);
    assert.ok(performance.now() - startedMs < 2_000);
  });

  it('tells at most 20 faults, whether the text or its meaning is broken', () => {
    assert.equal(faultsOf('a: }\n'.repeat(1000)).length, 20);
    assert.equal(faultsOf('1: a\n'.repeat(1000)).length, 20);
    assert.equal(faultsOf('1: a\n'.repeat(20)).length, 20);
    assert.equal(faultsOf('1: a\n'.repeat(19)).length, 19);
    assert.equal(faultsOf('[!a x, !b x]').length, 2);
  });

  it('reads many names in time that grows with their number', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `name-${index}: x`).join('\n');
    assert.equal((read(text) as unknown[]).length, 20_000);
  });
});

describe('YamlDocument', () => {
  const document = parseStrictYaml('one: a\n"two":\n  - b\n  - - c\n    - d\nthree: {four: e}\n', { depth: 4 });
  assert.ok(document.ok);
  const { positionOf } = document.value;

  const positions: readonly (readonly [Path, number, number])[] = [
    [[], 1, 1],
    [['one'], 1, 1],
    [['two'], 2, 1],
    [['two', 0], 3, 5],
    [['two', 1], 4, 5],
    [['two', 1, 1], 5, 7],
    [['three', 'four'], 6, 9],
  ];
  for (const [path, line, column] of positions) {
    it(`finds ${JSON.stringify(path)}`, () => assert.deepEqual(positionOf(path), { line, column }));
  }
});
