import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { formatKey, formatKeys, parseKeyReplacement, parseKeyUpsert } from '../../src/auth/key-document.ts';
import { KEYS_MAX } from '../../src/auth/key-registry.ts';
import { fault } from '../../src/lib/result.ts';
import { sha256Hex } from './key-builder.ts';
import {
  entryWith,
  HASH,
  LONGEST_NAME,
  MODEL_LIMITS,
  NAME_RULE,
  parseKey,
  parseReplacement,
  replacementOf,
  TOO_LONG_NAME,
} from './key-entries.ts';

describe('parseKeyReplacement() reads the document', () => {
  const refused: readonly (readonly [document: unknown, told: string])[] = [
    [null, 'document: must be an object'],
    [[], 'document: must be an object'],
    ['x', 'document: must be an object'],
    [undefined, 'document: must be an object'],
    [{ keys: [] }, 'version: is required'],
    [{ version: null, keys: [] }, `version: ${NAME_RULE}`],
    [{ version: '', keys: [] }, `version: ${NAME_RULE}`],
    [{ version: 7, keys: [] }, `version: ${NAME_RULE}`],
    [{ version: TOO_LONG_NAME, keys: [] }, `version: ${NAME_RULE}`],
    [{ version: '\ud800', keys: [] }, `version: ${NAME_RULE}`],
    [{ version: '1', keys: {} }, 'keys: must be a list of at most 100000'],
    [{ version: '1', keys: 'x' }, 'keys: must be a list of at most 100000'],
    [{ version: '1', keys: [null] }, 'keys[0]: must be an object'],
    [{ version: '1', keys: [[]] }, 'keys[0]: must be an object'],
    [{ version: '', keys: [null] }, `version: ${NAME_RULE}`],
  ];
  for (const [document, told] of refused) {
    it(`refuses ${JSON.stringify(document)?.slice(0, 40)}: ${told}`, () => {
      assert.deepEqual(parseReplacement(document), fault(told));
    });
  }

  it('takes a version of 256 bytes, kept as it is', () => {
    for (const version of [LONGEST_NAME, ' ', '\u{1f600}']) {
      const parsed = parseReplacement({ version, keys: [] });
      assert.equal(parsed.ok && parsed.value.version, version);
    }
  });

  it('reads absent, null and empty keys as an empty registry', () => {
    for (const document of [{ version: '1' }, { version: '1', keys: null }, { version: '1', keys: [] }]) {
      const parsed = parseReplacement(document);
      assert.deepEqual(parsed.ok && parsed.value.keys, []);
    }
  });

  it('keeps the order of the push', () => {
    const entries = ['b', 'a', '10', '9'].map((id) => entryWith({ id, key_hash: sha256Hex(id) }));
    const parsed = parseReplacement(replacementOf(...entries));
    assert.deepEqual(parsed.ok && parsed.value.keys.map((key) => key.id), ['b', 'a', '10', '9']);
  });

  it('takes 100,000 keys and refuses one more, before it reads the first', () => {
    const entries = Array.from({ length: KEYS_MAX }, (_, index) => {
      return { id: `k${index}`, key_hash: index.toString(16).padStart(64, '0'), owner: 'o', name: 'n' };
    });
    const parsed = parseReplacement(replacementOf(...entries));
    assert.equal(parsed.ok && parsed.value.keys.length, 100_000);

    const flood = Array.from({ length: KEYS_MAX + 1 }, () => null);
    assert.deepEqual(parseReplacement({ version: '1', keys: flood }), fault('keys: must be a list of at most 100000'));
  });

  it('reads nothing behind the first fault, so that a hundred thousand of them cost no more than one', () => {
    const unread = {
      get id(): string {
        throw new Error('read');
      },
    };
    assert.deepEqual(parseReplacement(replacementOf(null, unread)), fault('keys[0]: must be an object'));
  });

  it('ignores fields that it does not know (api.md §10.1)', () => {
    const known = parseReplacement(replacementOf(entryWith({})));
    const entry = entryWith({ created_at: 1, Enabled: true, quota: undefined, metadata: { owner: 'x' } });
    assert.deepEqual(parseReplacement({ version: '1', keys: [entry], comment: [] }), known);
    const quota = { requests_per_minute: 1, max_occupancy_share: 7, per_models: {} };
    assert.equal(parseKey({ quota }).quota?.requestsPerMinute, 1);
  });
});

describe('parseKeyReplacement() refuses keys that repeat', () => {
  const entry = (id: string, secret: string) => entryWith({ id, key_hash: sha256Hex(secret) });

  it('an ID, naming both positions', () => {
    const document = replacementOf(entry('a', '1'), entry('b', '2'), entry('a', '3'));
    assert.deepEqual(parseReplacement(document), fault('keys[2].id: must differ from keys[0].id'));
  });

  it('a hash, in whatever case, naming both positions', () => {
    const upper = entryWith({ id: 'c', key_hash: sha256Hex('2').toUpperCase() });
    const document = replacementOf(entry('a', '1'), entry('b', '2'), upper);
    assert.deepEqual(parseReplacement(document), fault('keys[2].key_hash: must differ from keys[1].key_hash'));
  });

  it('naming the first repeat of several, and of an ID before that of a hash', () => {
    const hashes = replacementOf(entry('a', '1'), entry('b', '1'), entry('c', '1'), entry('d', '4'));
    assert.deepEqual(parseReplacement(hashes), fault('keys[1].key_hash: must differ from keys[0].key_hash'));
    const both = replacementOf(entry('a', '1'), entry('b', '1'), entry('c', '3'), entry('c', '4'), entry('a', '5'));
    assert.deepEqual(parseReplacement(both), fault('keys[3].id: must differ from keys[2].id'));
  });

  it('but not IDs that differ in case alone, nor owners and names', () => {
    assert.equal(parseReplacement(replacementOf(entry('a', '1'), entry('A', '2'))).ok, true);
  });

  it('only after every entry has passed on its own', () => {
    const document = replacementOf(entry('a', '1'), entry('a', '1'), entryWith({ owner: '' }));
    assert.deepEqual(parseReplacement(document), fault(`keys[2].owner: ${NAME_RULE}`));
  });
});

describe('parseKeyReplacement(), in steps', () => {
  it('reads no more than one entry from one pause to the next (R-163)', () => {
    let read = 0;
    const keys = Array.from({ length: 5_000 }, (_, index) => ({
      id: `k${index}`,
      key_hash: index.toString(16).padStart(64, '0'),
      owner: 'o',
      get name() {
        read += 1;
        return 'n';
      },
    }));
    const steps = parseKeyReplacement({ version: '1', keys });
    let pauses = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      pauses += 1;
      assert.ok(read <= pauses * 3, `${read} reads in ${pauses} steps`);
    }
    assert.ok(read >= 5_000);
    assert.equal(pauses, 5_000);
  });
});

describe('formatKeys()', () => {
  it('makes one document of all keys, a piece for each', () => {
    for (const count of [0, 1, 3]) {
      const keys = Array.from({ length: count }, (_, index) => parseKey({ id: `k${index}` }));
      const pieces = [...formatKeys(keys)];
      assert.equal(pieces.length, count + 2);
      assert.equal(pieces.join(''), JSON.stringify({ keys: keys.map(formatKey), count }));
    }
  });
});

describe('parseKeyReplacement() on anything', () => {
  const canary = fc.constantFrom('sk-canary', HASH, `${HASH}0`, `sk-canary${'x'.repeat(260)}`);
  const value = fc.oneof(
    canary,
    fc.constantFrom(1.5, -1, null, true, {}),
    fc.array(canary),
    fc.dictionary(fc.constant('m'), canary),
  );
  const quota = fc.oneof(
    value,
    fc.dictionary(fc.constantFrom('requests_per_minute', 'input_tokens_per_minute', 'per_model'), value),
  );
  const fields = [
    'id',
    'key_hash',
    'key_preview',
    'owner',
    'name',
    'enabled',
    'expires_at',
    'allowed_models',
    'quota',
    'max_occupancy_share',
  ];
  const entry = fc.dictionary(fc.constantFrom(...fields), fc.oneof(value, quota), { maxKeys: 3 }).map(entryWith);

  it('never tells a value of the document', () =>
    fc.assert(
      fc.property(fc.oneof(canary, fc.constant('1')), fc.oneof(canary, fc.array(entry)), (version, keys) => {
        const parsed = parseReplacement({ version, keys });
        return parsed.ok || !(parsed.fault.includes('canary') || parsed.fault.includes(HASH));
      }),
      { numRuns: 1000 },
    ));

  it('comes to a verdict', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (document, keys) => {
        assert.equal(typeof parseReplacement(document).ok, 'boolean');
        assert.equal(typeof parseReplacement(replacementOf(...keys)).ok, 'boolean');
      }),
    ));
});

describe('formatKey()', () => {
  it('writes every field in JSON terms, the hash empty (A2)', () => {
    const fields = {
      key_preview: 'sk-...nary',
      enabled: true,
      expires_at: '2026-11-03T12:00:00Z',
      allowed_models: ['m', 'n'],
      quota: { per_model: { m: MODEL_LIMITS }, requests_per_minute: 0 },
      max_occupancy_share: 0.5,
    };
    const expected = {
      id: 'k',
      key_hash: '',
      owner: 'o',
      name: 'n',
      ...fields,
      expires_at: '2026-11-03T12:00:00.000Z',
    };
    assert.deepEqual(JSON.parse(JSON.stringify(formatKey(parseKey(fields)))), expected);
  });

  it('leaves out what was not declared', () => {
    const expected = { id: 'k', key_hash: '', key_preview: '', owner: 'o', name: 'n', enabled: false };
    assert.deepEqual(JSON.parse(JSON.stringify(formatKey(parseKey({})))), expected);
  });

  const count = fc.nat();
  const name = fc.string({ minLength: 1, maxLength: 20 });
  const limits = fc.record({ requests_per_minute_per_replica: count, tokens_per_day: count });
  const flat = {
    requests_per_minute: fc.integer(),
    tokens_per_day: fc.integer(),
    input_tokens_per_minute: count,
    output_tokens_per_minute: count,
  };
  const declared = {
    id: name,
    enabled: fc.boolean(),
    expires_at: fc.date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
    allowed_models: fc.array(name),
    quota: fc.oneof(
      fc.record(flat, { requiredKeys: [] }),
      fc.record({ per_model: fc.dictionary(name, limits, { minKeys: 1 }) }),
    ),
    max_occupancy_share: fc.double({ min: 0, max: 1, noNaN: true }),
  };

  it('writes what reads back as the same key', () =>
    fc.assert(
      fc.property(fc.record(declared, { requiredKeys: [] }), (fields) => {
        const key = parseKey(fields);
        assert.deepEqual(parseKey({ ...formatKey(key), key_hash: HASH }), key);
      }),
    ));
});

describe('parseKeyUpsert()', () => {
  it('reads the version beside the fields of an entry, whose ID is that of the path', () => {
    const body = {
      version: 'rev_2',
      ...Object(entryWith({ id: 'other', enabled: true, quota: { tokens_per_day: 5 } })),
    };
    const parsed = parseKeyUpsert(body, 'of-path');
    assert.ok(parsed.ok);
    const { version, key } = parsed.value;
    assert.deepEqual(
      [version, key.id, key.keyHash, key.enabled, key.quota?.tokensPerDay],
      ['rev_2', 'of-path', HASH, true, 5],
    );
  });

  it('needs no ID in the document, and disables a key that does not say (T17)', () => {
    const parsed = parseKeyUpsert({ version: '1', ...Object(entryWith({ id: undefined })) }, 'k');
    assert.ok(parsed.ok && parsed.value.key.id === 'k' && !parsed.value.key.enabled);
  });

  const refused: readonly (readonly [body: unknown, id: string, told: string])[] = [
    [[], 'k', 'document: must be an object'],
    [null, 'k', 'document: must be an object'],
    [entryWith({}), 'k', 'version: is required'],
    [{ version: '' }, 'k', `version: ${NAME_RULE}`],
    [{ version: '1' }, 'k', 'key_hash: is required'],
    [{ version: '1', ...Object(entryWith({})) }, '', `id: ${NAME_RULE}`],
    [{ version: '1', ...Object(entryWith({})) }, TOO_LONG_NAME, `id: ${NAME_RULE}`],
    [
      { version: '1', ...Object(entryWith({ quota: { tokens_per_day: 'canary' } })) },
      'k',
      'quota.tokens_per_day: must be a whole number',
    ],
  ];
  for (const [body, id, told] of refused) {
    it(`refuses ${JSON.stringify(body)?.slice(0, 60)} for ${JSON.stringify(id.slice(0, 10))}: ${told}`, () => {
      assert.deepEqual(parseKeyUpsert(body, id), fault(told));
    });
  }
});
