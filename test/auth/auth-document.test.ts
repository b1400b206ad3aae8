import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUTH_FILE_MAX_BYTES, type AuthDocument, parseAuthFile } from '../../src/auth/auth-document.ts';
import { STATIC_KEYS_MAX } from '../../src/auth/auth-file-fields.ts';
import { sha256Hex } from './key-builder.ts';

const HASH = sha256Hex('sk-canary');
const NAME_RULE = 'must be Unicode text of 1 to 256 bytes';
const DAY_RULE = 'must be a date as DD-MM-YYYY, the last day of the key';

/** A file of one key, whose fields stand on line 4. */
const fileOf = (fields: string) => `api:\n  mode: api-key\n  keys:\n    - {${fields}}\n`;
const SOUND = `key_hash: ${HASH}, metadata: {name: n, owner: o}`;

function read(text: string): AuthDocument {
  const parsed = parseAuthFile(text);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.fault.join('\n'));
  return parsed.value;
}

function keyOf(fields: string) {
  const [key] = read(fileOf(fields)).keys;
  assert.ok(key);
  return key;
}

/** The faults without line and column, which stand in a test of their own. */
function rules(text: string): readonly string[] {
  const parsed = parseAuthFile(text);
  return parsed.ok ? [] : parsed.fault.map((line) => line.replace(/^line \d+, column \d+: /, ''));
}

describe('parseAuthFile() reads', () => {
  it('every field of a key', () => {
    const text = `
api:
  mode: "api-key"
  keys:
    - key_hash: "${HASH.toUpperCase()}"
      key_preview: "sk-...xxxx"
      metadata: {name: Main, owner: acme, description: "", created_at: 18-03-2026, expires_at: 31-12-2026}
      models: [org/m, n]
      max_occupancy_share: 0.5
      quota: {requests_per_minute: 100, tokens_per_day: 500000, input_tokens_per_minute: 1, output_tokens_per_minute: 2}
admin:
  mode: api-key
`;
    assert.deepEqual(read(text), {
      mode: 'api-key',
      keys: [
        {
          id: '',
          keyHash: HASH,
          keyPreview: 'sk-...xxxx',
          owner: 'acme',
          name: 'Main',
          enabled: true,
          expiresAtMs: Date.UTC(2027, 0, 1),
          allowedModels: new Set(['org/m', 'n']),
          quota: {
            requestsPerMinute: 100,
            tokensPerDay: 500_000,
            inputTokensPerMinute: 1,
            outputTokensPerMinute: 2,
            perModel: undefined,
          },
          maxOccupancyShare: 0.5,
        },
      ],
      wantsAdminKeys: true,
      warnings: [],
    });
  });

  it('what may be left out, or be empty, as unlimited', () => {
    const bare = keyOf(SOUND);
    assert.deepEqual(
      [bare.keyPreview, bare.expiresAtMs, bare.allowedModels, bare.quota, bare.maxOccupancyShare],
      ['', undefined, undefined, undefined, undefined],
    );
    const empty = `key_hash: ${HASH}, metadata: {name: n, owner: o, expires_at: ""}, models: [], max_occupancy_share: 0, quota:`;
    assert.deepEqual(keyOf(empty), bare);
  });

  it('limits per model', () => {
    const quota = 'quota: {per_model: {org/m: {requests_per_minute_per_replica: 5, tokens_per_day: 0}}}';
    assert.deepEqual(
      keyOf(`${SOUND}, ${quota}`).quota?.perModel,
      new Map([['org/m', { requestsPerMinutePerReplica: 5, tokensPerDay: 0 }]]),
    );
  });

  const modes: readonly (readonly [text: string, mode: string, wantsAdminKeys: boolean])[] = [
    ['{}', 'none', false],
    ['api:\nadmin:\n', 'none', false],
    ['api: {mode: ""}\nadmin: {mode: ""}', 'none', false],
    ['api: {mode: none}\nadmin: {mode: none}', 'none', false],
    ['api: {mode: dynamic}\nadmin: {mode: api-key}', 'dynamic', true],
  ];
  for (const [text, mode, wantsAdminKeys] of modes) {
    it(`${JSON.stringify(text)} as mode ${mode}`, () => {
      assert.deepEqual(read(text), { mode, keys: [], wantsAdminKeys, warnings: [] });
    });
  }

  it('an expiry as the end of its UTC day, of a leap day too', () => {
    const expiry = (day: string) =>
      keyOf(`key_hash: ${HASH}, metadata: {name: n, owner: o, expires_at: ${day}}`).expiresAtMs;
    assert.equal(expiry('29-02-2028'), Date.UTC(2028, 2, 1));
    assert.equal(expiry('"01-01-2027"'), Date.UTC(2027, 0, 2));
  });
});

describe('parseAuthFile() refuses', () => {
  const cases: readonly (readonly [text: string, ...told: readonly string[]])[] = [
    ['', 'document: must be an object'],
    ['[]', 'document: must be an object'],
    ['api: [', 'Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['api: {mode: jwt}', 'api.mode: must be one of none, api-key, dynamic, or left out'],
    ['admin: {mode: dynamic}', 'admin.mode: must be none, api-key, or left out'],
    ['api: {mode: api-key}', 'api.keys: is required'],
    ['api: {mode: api-key, keys: []}', 'api.keys: must have at least one key'],
    ['api: {mode: api-key, keys: {}}', `api.keys: must be a list of at most ${STATIC_KEYS_MAX}`],
    [fileOf('metadata: {name: n, owner: o}'), 'api.keys[0].key_hash: is required'],
    [fileOf('key_hash: "", metadata: {name: n, owner: o}'), `api.keys[0].key_hash: ${NAME_RULE}`],
    [fileOf(`key_hash: ${HASH}`), 'api.keys[0].metadata: is required'],
    [
      fileOf(`key_hash: ${HASH}, metadata: {name: "", owner: 7}`),
      `api.keys[0].metadata.name: ${NAME_RULE}`,
      `api.keys[0].metadata.owner: ${NAME_RULE}`,
    ],
    [fileOf(`${SOUND}, models: m`), 'api.keys[0].models: must be a list of at most 10000'],
    [fileOf(`${SOUND}, max_occupancy_share: 1.1`), 'api.keys[0].max_occupancy_share: must be a number from 0 to 1'],
    [
      fileOf(`${SOUND}, quota: {requests_per_minute: 1.5, input_tokens_per_minute: -1}`),
      'api.keys[0].quota.requests_per_minute: must be a whole number',
      'api.keys[0].quota.input_tokens_per_minute: must be a whole number, 0 or more',
    ],
    [fileOf(`${SOUND}, quota: {per_model: {}}`), 'api.keys[0].quota.per_model: must have 1 to 10000 models'],
    [
      fileOf(`${SOUND}, quota: {per_model: {m: {tokens_per_day: 1}}}`),
      'api.keys[0].quota.per_model.m.requests_per_minute_per_replica: is required',
    ],
    [
      fileOf(
        `${SOUND}, quota: {tokens_per_day: 1, per_model: {m: {requests_per_minute_per_replica: 1, tokens_per_day: 1}}}`,
      ),
      'api.keys[0].quota: must have either per_model or limits for all models, not both',
    ],
  ];
  for (const [text, ...told] of cases) {
    it(`${JSON.stringify(text.slice(0, 120))}: ${told.join('; ')}`, () => assert.deepEqual(rules(text), told));
  }

  for (const day of ['30-02-2026', '31-12-26', '2026-12-31', '1-1-2026', '31/12/2026', '31-13-2026', 'canary']) {
    it(`the expiry ${day}`, () => {
      const text = fileOf(`key_hash: ${HASH}, metadata: {name: n, owner: o, expires_at: ${day}}`);
      assert.deepEqual(rules(text), [`api.keys[0].metadata.expires_at: ${DAY_RULE}`]);
    });
  }

  it('a hash that two keys have, in whatever case', () => {
    const key = (hash: string) => `    - {key_hash: ${hash}, metadata: {name: n, owner: o}}\n`;
    const text = `api:\n  mode: api-key\n  keys:\n${key(HASH)}${key(sha256Hex('x'))}${key(HASH.toUpperCase())}`;
    assert.deepEqual(rules(text), ['api.keys[2].key_hash: must differ from that of api.keys[0]']);
  });

  it('everything wrong at once, each with its line and column', () => {
    const parsed = parseAuthFile(`${fileOf('key_hash: 5, metadata: {name: n}')}admin: {mode: x}\n`);
    assert.ok(!parsed.ok);
    assert.deepEqual(parsed.fault, [
      `line 4, column 8: api.keys[0].key_hash: ${NAME_RULE}`,
      'line 4, column 21: api.keys[0].metadata.owner: is required',
      'line 5, column 9: admin.mode: must be none, api-key, or left out',
    ]);
  });

  it('a file above 1 MiB', () => {
    const filled = (bytes: number) => '{}\n#'.padEnd(bytes, 'x');
    assert.deepEqual(rules(filled(AUTH_FILE_MAX_BYTES)), []);
    assert.deepEqual(rules(filled(AUTH_FILE_MAX_BYTES + 1)), ['larger than 1048576 bytes']);
  });

  it('without telling what stands in the file: a key may, by mistake', () => {
    const key = 'sk-hivenet-CANARY';
    const texts = [
      fileOf(
        `key_hash: {${key}: ${key}}, metadata: ${key}, models: ${key}, quota: ${key}, max_occupancy_share: ${key}`,
      ),
      fileOf(`key_hash: ${HASH}, metadata: {name: n, owner: o, expires_at: ${key}}, ${key}: ${key}`),
      `api: {mode: ${key}}\nadmin: {mode: ${key}}`,
      `${key}: ${key}\napi: {mode: api-key, keys: [${key}, {${key}: ${key}}]}`,
      `api: {mode: api-key, keys: [*${key}, "${key}]}`,
    ];
    for (const text of texts) {
      assert.ok(rules(text).length > 0, text);
      assert.ok(!rules(text).join().includes('CANARY'), rules(text).join());
    }
  });
});

describe('parseAuthFile() warns', () => {
  const cases: readonly (readonly [name: string, text: string, ...told: readonly string[]])[] = [
    [
      'of fields that nothing reads',
      `${fileOf(`${SOUND}, expires_at: 01-01-2026, quota: {request_per_minute: 1}`)}version: 2\n`,
      'line 4, column 115: api.keys[0].expires_at: unknown field, ignored',
      'line 4, column 147: api.keys[0].quota.request_per_minute: unknown field, ignored',
      'line 5, column 1: version: unknown field, ignored',
    ],
    [
      'of one that may be a key, without its name',
      fileOf(`${SOUND}, sk-CANARY: 1, constructor: 2`),
      'line 4, column 7: api.keys[0]: unknown field in it, ignored',
      'line 4, column 129: api.keys[0].constructor: unknown field, ignored',
    ],
    [
      'of a hash that opens nothing, as in the sample of the Go router (T20)',
      fileOf('key_hash: replace-with-sha256-hex-from-keygen, metadata: {name: n, owner: o}'),
      'line 4, column 8: api.keys[0].key_hash: not the SHA-256 of a key in 64 hexadecimal characters, so it opens nothing',
    ],
    [
      'of keys that are not used, whatever they are',
      'api: {mode: dynamic, keys: 7}',
      'line 1, column 22: api.keys: ignored, api.mode is dynamic',
    ],
  ];
  for (const [name, text, ...told] of cases) it(name, () => assert.deepEqual(read(text).warnings, told));
});
