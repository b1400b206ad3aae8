import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { NOT_JSON, readKeyPush } from '../../src/auth/key-push.ts';
import { KEYS_MAX } from '../../src/auth/key-registry.ts';
import { fault, type Result } from '../../src/lib/result.ts';
import { complete } from '../../src/lib/steps.ts';
import { decodeUtf8, encodeUtf8 } from '../../src/lib/utf8.ts';
import {
  entryWith,
  HASH,
  type ListedReplacement,
  LONGEST_NAME,
  listed,
  NAME_RULE,
  parseReplacement,
} from './key-entries.ts';

const NO_JSON = fault(NOT_JSON);

function read(body: string | Uint8Array): Result<ListedReplacement, string> {
  return listed(complete(readKeyPush(typeof body === 'string' ? encodeUtf8(body) : body)));
}

/** The same by `JSON.parse`, in one go. */
function readAtOnce(bytes: Uint8Array): Result<ListedReplacement, string> {
  try {
    return parseReplacement(JSON.parse(decodeUtf8(bytes) ?? '…'));
  } catch {
    return NO_JSON;
  }
}

const ENTRY = JSON.stringify(entryWith({}));
const OTHER = JSON.stringify(entryWith({ id: 'l', key_hash: 'b'.repeat(64) }));

describe('readKeyPush() reads as JSON.parse does', () => {
  const bodies = [
    '',
    ' ',
    'null',
    '"x"',
    '[]',
    '7',
    '{}',
    '{"version":"1"}',
    '{"version":"1","keys":null}',
    '{"version":"1","keys":[]}',
    '{"version":"1","keys":[ ]}',
    '{"version":"1","keys":{}}',
    '{"version":"1","keys":"x"}',
    '{"version":null,"keys":[]}',
    '{"version":7}',
    '{"version":["1"]}',
    '{"keys":[]}',
    '{"keys":[1,]}',
    `\ufeff{"version":"1","keys":[${ENTRY}]}`,
    `{"version":"1","keys":[${ENTRY}]}`,
    ` { "keys" : [ ${ENTRY} ,\n${OTHER} ] , "version" : "1" } `,
    `{"version":"1","keys":[${ENTRY}],"keys":[${OTHER}]}`,
    `{"version":"1","keys":[${ENTRY}],"keys":7}`,
    `{"version":"1","keys":7,"keys":[${ENTRY}]}`,
    `{"version":7,"version":"1"}`,
    `{"\\u0076ersion":"1","k\\u0065ys":[${ENTRY}]}`,
    `{"version":"1","keys":[${ENTRY},${ENTRY}]}`,
    `{"version":"1","keys":[${ENTRY},null]}`,
    `{"version":"1","keys":[${ENTRY}]} x`,
    `{"version":"1","keys":[${ENTRY}`,
    `{"version":"1","more":{"version":"2","keys":[1]},"keys":[${OTHER}]}`,
    `{"version":"1","keys":[{"id":"a","id":"b","key_hash":"${HASH}","owner":"o","name":"n"}]}`,
    `{"version":"\\ud800","keys":[]}`,
    `{"version":"${'\\u0061'.repeat(256)}"}`,
    `{"version":"${LONGEST_NAME}"}`,
    `{"version":"${'a'.repeat(3_000)}"}`,
    `{"version":"1","keys":"${'a'.repeat(3_000)}"}`,
  ];
  for (const body of bodies) {
    it(JSON.stringify(body.slice(0, 60)), () => assert.deepEqual(read(body), readAtOnce(encodeUtf8(body))));
  }

  it('bytes that are not UTF-8', () => {
    assert.deepEqual(read(Uint8Array.of(0x22, 0xff, 0x22)), NO_JSON);
  });

  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(HASH, 'a', '__proto__'));
  const entry = fc.oneof(
    value,
    fc.record(
      {
        id: fc.constantFrom('a', 'b', 'c'),
        key_hash: fc.constantFrom(HASH, 'b'.repeat(64)),
        owner: value,
        name: value,
      },
      { requiredKeys: ['id', 'key_hash'] },
    ),
    fc.integer({ min: 0, max: 4 }).map((id) => entryWith({ id: `k${id}`, key_hash: String(id).repeat(64) })),
  );
  const member = fc.tuple(
    fc.constantFrom('version', 'keys', 'other', '__proto__'),
    fc.oneof(value, fc.array(entry, { maxLength: 5 })),
  );
  /** Members in any order, also twice. */
  const text = fc
    .tuple(fc.array(member, { maxLength: 4 }), fc.constantFrom('', ' ', '\n\t'))
    .map(
      ([members, blank]) =>
        `{${blank}${members.map(([name, of]) => `"${name}"${blank}:${blank}${JSON.stringify(of, null, blank)}`).join(`${blank},${blank}`)}${blank}}`,
    );

  it('any document', () =>
    fc.assert(
      fc.property(text, (body) => assert.deepEqual(read(body), readAtOnce(encodeUtf8(body)))),
      { numRuns: 1_000 },
    ));

  it('any damaged document', () =>
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 0, max: 255 }), (body, at, byte) => {
        const bytes = encodeUtf8(body.replace('}', `,"version":"1","keys":[${ENTRY},${OTHER}]}`));
        bytes[at % bytes.length] = byte;
        assert.deepEqual(read(bytes), readAtOnce(bytes));
      }),
      { numRuns: 1_000 },
    ));
});

describe('readKeyPush()', () => {
  it('counts the entries before it reads the first, and lists no more than can be', () => {
    const flood = `{"version":"1","keys":[${'7,'.repeat(KEYS_MAX)}7]}`;
    assert.deepEqual(read(flood), fault(`keys: must be a list of at most ${KEYS_MAX}`));
    assert.deepEqual(read(flood.replace('7,', '')), fault('keys[0]: must be an object'));
    assert.deepEqual(read(flood.replace('"1"', '""')), fault(`version: ${NAME_RULE}`));
  });

  it('does as little from one pause to the next as one entry or 256 KiB of bytes (R-163)', () => {
    const entries = Array.from({ length: 4_000 }, (_, index) =>
      JSON.stringify(
        entryWith({ id: `k${index}`, key_hash: index.toString(16).padStart(64, '0'), key_preview: 'x'.repeat(200) }),
      ),
    );
    const bytes = encodeUtf8(`{"version":"1","keys":[${entries.join()}]}`);
    const steps = readKeyPush(bytes);
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    const slices = Math.floor(bytes.length / 262_144);
    assert.ok(slices >= 5);
    // Two looks at the UTF-8, two walks, and a look for the entries; then the entries.
    assert.ok(pauses >= 4_000 + 5 * slices, `${pauses} pauses`);
  });
});
