import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import type { Result } from '../../src/lib/result.ts';
import { type Keyring, parseSecretsFile, parseSecretsVariable } from '../../src/redirect/keyring.ts';
import { okValue } from './builders.ts';

const A = 'a-secret-of-at-least-32-bytes-aaaaa';
const B = 'b-secret-of-at-least-32-bytes-bbbbb';

/** What a keyring holds, readable: its secrets in order as `id:secret`, and first the ID that signs. */
function contentOf(keyring: Keyring): readonly string[] {
  const entries = [...keyring.byId].map(([id, { key }]) => `${id}:${Buffer.from(key.export()).toString()}`);
  return [keyring.signing.id, ...entries];
}

function faultOf(result: Result<Keyring, string>): string {
  assert.ok(!result.ok, 'the secrets were read');
  return result.fault;
}

type Reading = readonly [name: string, text: string, content: readonly string[]];

const FILES: readonly Reading[] = [
  ['one line', `k1:${A}`, ['k1', `k1:${A}`]],
  ['the first signs, both verify (R-086, R-155)', `k2:${B}\nk1:${A}\n`, ['k2', `k2:${B}`, `k1:${A}`]],
  ['CRLF and a trailing newline', `k1:${A}\r\nk2:${B}\r\n`, ['k1', `k1:${A}`, `k2:${B}`]],
  ['blank lines and outer blanks', `\n \t\n  k1:${A}\t \n\n`, ['k1', `k1:${A}`]],
  ['a colon in the secret', `k1:a:${A}`, ['k1', `k1:a:${A}`]],
  ['a comma in the secret', `k1:${A},${B}`, ['k1', `k1:${A},${B}`]],
  ['blanks inside and after the colon are the secret', `k1: ${A} x`, ['k1', `k1: ${A} x`]],
  ['white space outside ASCII is the secret', `k1:${A}\u{A0}`, ['k1', `k1:${A}\u{A0}`]],
  ['a byte order mark inside is the secret', `k1:\u{FEFF}${A}`, ['k1', `k1:\u{FEFF}${A}`]],
  ['no comments: "#" is the secret', `k1:${A}#x`, ['k1', `k1:${A}#x`]],
  ['16 characters of ID', `Az0_-Az0_-Az0_-A:${A}`, ['Az0_-Az0_-Az0_-A', `Az0_-Az0_-Az0_-A:${A}`]],
  ['32 bytes of UTF-8', `k1:${'é'.repeat(16)}`, ['k1', `k1:${'é'.repeat(16)}`]],
];

const VARIABLES: readonly Reading[] = [
  ['one entry', `k1:${A}`, ['k1', `k1:${A}`]],
  ['entries with outer blanks', ` k1:${A} , k2:${B} `, ['k1', `k1:${A}`, `k2:${B}`]],
];

type Refusing = readonly [name: string, text: string, fault: string];

const BROKEN_ENTRIES: readonly Refusing[] = [
  ['no colon', A, 'no ":" between ID and secret'],
  ['an empty ID', `:${A}`, 'the ID must be 1 to 16 letters, digits, "_" or "-"'],
  ['17 characters of ID', `${'k'.repeat(17)}:${A}`, 'the ID must be 1 to 16 letters, digits, "_" or "-"'],
  ['a dot in the ID', `a.b:${A}`, 'the ID must be 1 to 16 letters, digits, "_" or "-"'],
  ['a blank after the ID', `k1 :${A}`, 'the ID must be 1 to 16 letters, digits, "_" or "-"'],
  ['a comment', `# k1:${A}`, 'the ID must be 1 to 16 letters, digits, "_" or "-"'],
  ['an empty secret', 'k1:', 'the secret is shorter than 32 bytes'],
  ['31 bytes', `k1:${'s'.repeat(31)}`, 'the secret is shorter than 32 bytes'],
  ['31 bytes and trimmed blanks', `k1:${'s'.repeat(31)}   `, 'the secret is shorter than 32 bytes'],
  ['31 bytes of UTF-8 in 30 characters', `k1:é${'s'.repeat(29)}`, 'the secret is shorter than 32 bytes'],
  ['a byte order mark', `\u{FEFF}k1:${A}`, 'starts with a byte order mark'],
  ['bytes that were not UTF-8', `k1:${A}\u{FFFD}`, 'not valid UTF-8'],
  ['half a surrogate pair', `k1:${A}\u{D800}`, 'not valid UTF-8'],
];

describe('parseSecretsFile()', () => {
  for (const [name, text, content] of FILES) {
    it(`reads ${name} (R-149, R-150)`, () => assert.deepEqual(contentOf(okValue(parseSecretsFile(text))), content));
  }

  for (const [name, text, rule] of BROKEN_ENTRIES) {
    it(`refuses ${name}, by line and rule (R-149, D-53)`, () => {
      assert.equal(faultOf(parseSecretsFile(text)), `line 1: ${rule}`);
      assert.equal(faultOf(parseSecretsFile(`ok:${A}\n\n${text}\n`)), `line 3: ${rule}`);
    });
  }

  it('refuses an ID that is taken', () => {
    assert.equal(faultOf(parseSecretsFile(`k1:${A}\nk1:${B}`)), 'line 2: the ID "k1" is taken by an earlier secret');
  });

  it('refuses a file without a secret (R-148)', () => {
    for (const text of ['', '\n', ' \r\n\t\n']) assert.equal(faultOf(parseSecretsFile(text)), 'no secret');
  });
});

describe('parseSecretsVariable()', () => {
  for (const [name, text, content] of VARIABLES) {
    it(`reads ${name} (R-150)`, () => assert.deepEqual(contentOf(okValue(parseSecretsVariable(text))), content));
  }

  for (const [name, text, rule] of BROKEN_ENTRIES) {
    it(`refuses ${name}, by place and rule (R-149, D-53)`, () => {
      assert.equal(faultOf(parseSecretsVariable(`ok:${A},${text}`)), `entry 2: ${rule}`);
    });
  }

  it('refuses an empty entry (D-53)', () => {
    assert.equal(faultOf(parseSecretsVariable('')), 'entry 1: empty');
    assert.equal(faultOf(parseSecretsVariable(`k1:${A},`)), 'entry 2: empty');
    assert.equal(faultOf(parseSecretsVariable(`k1:${A}, ,k2:${B}`)), 'entry 2: empty');
  });
});

describe('a fault of the secrets', () => {
  it('names every broken one, and beyond 20 their number (E12)', () => {
    const broken = `k1:short\nk2:${A}\nk2:${B}\nk3`;
    const rules = [
      'line 1: the secret is shorter than 32 bytes',
      'line 3: the ID "k2" is taken by an earlier secret',
      'line 4: no ":" between ID and secret',
    ];
    assert.equal(faultOf(parseSecretsFile(broken)), rules.join('; '));
    assert.equal(
      faultOf(parseSecretsVariable('k1:short,k1')),
      'entry 1: the secret is shorter than 32 bytes; entry 2: no ":" between ID and secret',
    );
    assert.match(faultOf(parseSecretsFile('k1\n'.repeat(22))), /line 20: [^;]*; and 2 more$/);
  });

  it('never holds a piece of a secret (R-153)', () => {
    const texts = [...BROKEN_ENTRIES.map(([, text]) => text), `k1:${A},k1:${A}`, `pass${A}:${B}`];
    const faults = texts.flatMap((text) => [parseSecretsFile(`ok:${A}\n${text}`), parseSecretsVariable(text)]);
    for (const result of faults) {
      if (!result.ok) assert.doesNotMatch(result.fault, /secret-of|ssss|éé/);
    }
    assert.ok(faults.filter((result) => !result.ok).length >= 2 * BROKEN_ENTRIES.length);
  });
});
