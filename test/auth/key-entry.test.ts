// Every rule of one entry, at both sides: what is refused with which words, and what is read as what.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiKey } from '../../src/auth/api-key.ts';
import { KEY_MODELS_MAX } from '../../src/auth/key-quota.ts';
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

const HASH_RULE = 'must be 64 hexadecimal characters';
const EXPIRY_RULE = 'must be an RFC 3339 time such as 2026-12-31T23:59:59Z, or empty';
const COUNT_RULE = 'must be a whole number, 0 or more';
const EITHER_RULE = 'must have either per_model or limits for all models, not both';

function modelNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `m${index}`);
}

function perModel(count: number): object {
  return Object.fromEntries(modelNames(count).map((model) => [model, MODEL_LIMITS]));
}

describe('parseKeyReplacement() refuses an entry', () => {
  const refused: readonly (readonly [fields: object, told: string])[] = [
    [{ id: undefined }, 'id: is required'],
    [{ id: '' }, `id: ${NAME_RULE}`],
    [{ id: null }, `id: ${NAME_RULE}`],
    [{ id: 5 }, `id: ${NAME_RULE}`],
    [{ id: TOO_LONG_NAME }, `id: ${NAME_RULE}`],
    [{ id: 'a'.repeat(257) }, `id: ${NAME_RULE}`],
    [{ id: 'a\ud800' }, `id: ${NAME_RULE}`],
    [{ owner: undefined }, 'owner: is required'],
    [{ owner: '' }, `owner: ${NAME_RULE}`],
    [{ owner: TOO_LONG_NAME }, `owner: ${NAME_RULE}`],
    [{ name: undefined }, 'name: is required'],
    [{ name: '' }, `name: ${NAME_RULE}`],
    [{ name: TOO_LONG_NAME }, `name: ${NAME_RULE}`],
    [{ key_hash: undefined }, 'key_hash: is required'],
    [{ key_hash: null }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: '' }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: HASH.slice(1) }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: `${HASH}0` }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: `${HASH}\n` }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: `g${HASH.slice(1)}` }, `key_hash: ${HASH_RULE}`],
    [{ key_hash: 'sk-canary' }, `key_hash: ${HASH_RULE}`],
    [{ key_preview: 5 }, 'key_preview: must be Unicode text of at most 256 bytes'],
    [{ key_preview: TOO_LONG_NAME }, 'key_preview: must be Unicode text of at most 256 bytes'],
    [{ enabled: 'true' }, 'enabled: must be true or false'],
    [{ enabled: 1 }, 'enabled: must be true or false'],
    [{ expires_at: '2026-12-31' }, `expires_at: ${EXPIRY_RULE}`],
    [{ expires_at: '31-12-2026' }, `expires_at: ${EXPIRY_RULE}`],
    [{ expires_at: '2026-02-30T00:00:00Z' }, `expires_at: ${EXPIRY_RULE}`],
    [{ expires_at: ' ' }, `expires_at: ${EXPIRY_RULE}`],
    [{ expires_at: 1793707200 }, `expires_at: ${EXPIRY_RULE}`],
    [{ allowed_models: 'm' }, 'allowed_models: must be a list of at most 10000'],
    [{ allowed_models: { 0: 'm' } }, 'allowed_models: must be a list of at most 10000'],
    [{ allowed_models: modelNames(KEY_MODELS_MAX + 1) }, 'allowed_models: must be a list of at most 10000'],
    [{ allowed_models: ['m', ''] }, `allowed_models[1]: ${NAME_RULE}`],
    [{ allowed_models: ['m', 'n', null] }, `allowed_models[2]: ${NAME_RULE}`],
    [{ allowed_models: ['\udc00'] }, `allowed_models[0]: ${NAME_RULE}`],
    [{ allowed_models: [TOO_LONG_NAME] }, `allowed_models[0]: ${NAME_RULE}`],
    [{ max_occupancy_share: -0.01 }, 'max_occupancy_share: must be a number from 0 to 1'],
    [{ max_occupancy_share: 1.01 }, 'max_occupancy_share: must be a number from 0 to 1'],
    [{ max_occupancy_share: '0.5' }, 'max_occupancy_share: must be a number from 0 to 1'],
    [{ quota: [] }, 'quota: must be an object'],
    [{ quota: 5 }, 'quota: must be an object'],
    [{ quota: { requests_per_minute: '5' } }, 'quota.requests_per_minute: must be a whole number'],
    [{ quota: { requests_per_minute: 1.5 } }, 'quota.requests_per_minute: must be a whole number'],
    [{ quota: { tokens_per_day: 2 ** 53 } }, 'quota.tokens_per_day: must be a whole number'],
    [{ quota: { input_tokens_per_minute: -1 } }, `quota.input_tokens_per_minute: ${COUNT_RULE}`],
    [{ quota: { output_tokens_per_minute: -1 } }, `quota.output_tokens_per_minute: ${COUNT_RULE}`],
    [{ quota: { output_tokens_per_minute: 2 ** 53 } }, `quota.output_tokens_per_minute: ${COUNT_RULE}`],
    [{ quota: { output_tokens_per_minute: 0.5 } }, `quota.output_tokens_per_minute: ${COUNT_RULE}`],
    [{ quota: { per_model: [] } }, 'quota.per_model: must be an object'],
    [{ quota: { per_model: {} } }, 'quota.per_model: must have 1 to 10000 models'],
    [{ quota: { per_model: perModel(KEY_MODELS_MAX + 1) } }, 'quota.per_model: must have 1 to 10000 models'],
    [{ quota: { per_model: { '': MODEL_LIMITS } } }, `quota.per_model (a model name): ${NAME_RULE}`],
    [{ quota: { per_model: { [TOO_LONG_NAME]: MODEL_LIMITS } } }, `quota.per_model (a model name): ${NAME_RULE}`],
    [{ quota: { per_model: { 'a/b "c"': null } } }, 'quota.per_model["a/b \\"c\\""]: must be an object'],
    [
      { quota: { per_model: { m: { tokens_per_day: 1 } } } },
      'quota.per_model["m"].requests_per_minute_per_replica: is required',
    ],
    [
      { quota: { per_model: { m: { requests_per_minute_per_replica: 1 } } } },
      'quota.per_model["m"].tokens_per_day: is required',
    ],
    [
      { quota: { per_model: { m: { ...MODEL_LIMITS, tokens_per_day: -1 } } } },
      `quota.per_model["m"].tokens_per_day: ${COUNT_RULE}`,
    ],
    [
      { quota: { per_model: { m: { ...MODEL_LIMITS, tokens_per_day: null } } } },
      `quota.per_model["m"].tokens_per_day: ${COUNT_RULE}`,
    ],
    [{ quota: { per_model: { constructor: 5 } } }, 'quota.per_model["constructor"]: must be an object'],
    [{ quota: { per_model: { m: MODEL_LIMITS }, requests_per_minute: 1 } }, `quota: ${EITHER_RULE}`],
    [{ quota: { per_model: { m: MODEL_LIMITS }, tokens_per_day: -1 } }, `quota: ${EITHER_RULE}`],
    [{ quota: { per_model: { m: MODEL_LIMITS }, input_tokens_per_minute: 1 } }, `quota: ${EITHER_RULE}`],
    [{ quota: { per_model: { m: MODEL_LIMITS }, output_tokens_per_minute: 1 } }, `quota: ${EITHER_RULE}`],
  ];
  for (const [fields, told] of refused) {
    it(`with ${JSON.stringify(fields).slice(0, 70)}: ${told}`, () => {
      const first = entryWith({ id: 'first', key_hash: sha256Hex('first') });
      assert.deepEqual(parseReplacement(replacementOf(first, entryWith(fields))), fault(`keys[1].${told}`));
    });
  }

  it('beyond what JSON.stringify can write: 1e999 and a member named __proto__', () => {
    const push = (fields: string) =>
      parseReplacement(
        JSON.parse(`{"version":"1","keys":[{"id":"k","key_hash":"${HASH}","owner":"o","name":"n",${fields}}]}`),
      );
    assert.deepEqual(
      push('"max_occupancy_share":1e999'),
      fault('keys[0].max_occupancy_share: must be a number from 0 to 1'),
    );
    assert.deepEqual(
      push('"quota":{"tokens_per_day":1e999}'),
      fault('keys[0].quota.tokens_per_day: must be a whole number'),
    );
    assert.deepEqual(
      push('"quota":{"per_model":{"__proto__":1}}'),
      fault('keys[0].quota.per_model["__proto__"]: must be an object'),
    );
  });
});

describe('parseKeyReplacement() accepts an entry', () => {
  const accepted: readonly (readonly [fields: object, read: Partial<ApiKey>])[] = [
    [
      { id: LONGEST_NAME, owner: LONGEST_NAME, name: LONGEST_NAME },
      { id: LONGEST_NAME, owner: LONGEST_NAME, name: LONGEST_NAME },
    ],
    [{ id: 'a'.repeat(256) }, { id: 'a'.repeat(256) }],
    [{ key_hash: HASH.toUpperCase() }, { keyHash: HASH }],
    [{ key_preview: undefined }, { keyPreview: '' }],
    [{ key_preview: null }, { keyPreview: '' }],
    [{ key_preview: LONGEST_NAME }, { keyPreview: LONGEST_NAME }],
    [{ enabled: undefined }, { enabled: false }],
    [{ enabled: null }, { enabled: false }],
    [{ enabled: false }, { enabled: false }],
    [{ enabled: true }, { enabled: true }],
    [{ expires_at: undefined }, { expiresAtMs: undefined }],
    [{ expires_at: null }, { expiresAtMs: undefined }],
    [{ expires_at: '' }, { expiresAtMs: undefined }],
    [{ expires_at: '1970-01-01T00:00:00Z' }, { expiresAtMs: 0 }],
    [{ expires_at: '2026-11-03T13:00:00.5+01:00' }, { expiresAtMs: 1_793_707_200_500 }],
    [{ allowed_models: undefined }, { allowedModels: undefined }],
    [{ allowed_models: null }, { allowedModels: undefined }],
    [{ allowed_models: [] }, { allowedModels: undefined }],
    [{ allowed_models: ['m', LONGEST_NAME, 'm'] }, { allowedModels: new Set(['m', LONGEST_NAME]) }],
    [{ allowed_models: modelNames(KEY_MODELS_MAX) }, { allowedModels: new Set(modelNames(KEY_MODELS_MAX)) }],
    [{ max_occupancy_share: undefined }, { maxOccupancyShare: undefined }],
    [{ max_occupancy_share: null }, { maxOccupancyShare: undefined }],
    [{ max_occupancy_share: 0 }, { maxOccupancyShare: undefined }],
    [{ max_occupancy_share: 0.01 }, { maxOccupancyShare: 0.01 }],
    [{ max_occupancy_share: 1 }, { maxOccupancyShare: 1 }],
    [{ quota: undefined }, { quota: undefined }],
    [{ quota: null }, { quota: undefined }],
  ];
  for (const [fields, read] of accepted) {
    it(`with ${JSON.stringify(fields).slice(0, 70)}`, () => {
      const plain = parseKey({});
      assert.deepEqual(parseKey(fields), { ...plain, ...read });
    });
  }

  const UNDECLARED = {
    requestsPerMinute: undefined,
    tokensPerDay: undefined,
    inputTokensPerMinute: undefined,
    outputTokensPerMinute: undefined,
    perModel: undefined,
  };
  const quotas: readonly (readonly [quota: object, read: object])[] = [
    [{}, {}],
    [{ per_model: null, tokens_per_day: null }, {}],
    [
      { requests_per_minute: 1, tokens_per_day: 2, input_tokens_per_minute: 3, output_tokens_per_minute: 4 },
      { requestsPerMinute: 1, tokensPerDay: 2, inputTokensPerMinute: 3, outputTokensPerMinute: 4 },
    ],
    [
      { requests_per_minute: -1, tokens_per_day: -5 },
      { requestsPerMinute: -1, tokensPerDay: -5 },
    ],
    [
      { requests_per_minute: 0, tokens_per_day: 0 },
      { requestsPerMinute: 0, tokensPerDay: 0 },
    ],
    [
      { input_tokens_per_minute: 0, output_tokens_per_minute: 0 },
      { inputTokensPerMinute: 0, outputTokensPerMinute: 0 },
    ],
    [{ tokens_per_day: 2 ** 53 - 1 }, { tokensPerDay: 2 ** 53 - 1 }],
    [
      { per_model: { m: MODEL_LIMITS, constructor: { requests_per_minute_per_replica: 0, tokens_per_day: 9 } } },
      {
        perModel: new Map([
          ['m', { requestsPerMinutePerReplica: 5, tokensPerDay: 0 }],
          ['constructor', { requestsPerMinutePerReplica: 0, tokensPerDay: 9 }],
        ]),
      },
    ],
    [
      { per_model: { m: MODEL_LIMITS }, requests_per_minute: 0 },
      { perModel: new Map([['m', { requestsPerMinutePerReplica: 5, tokensPerDay: 0 }]]), requestsPerMinute: 0 },
    ],
  ];
  for (const [quota, read] of quotas) {
    it(`with the quota ${JSON.stringify(quota)}`, () => {
      assert.deepEqual(parseKey({ quota }).quota, { ...UNDECLARED, ...read });
    });
  }

  it('with limits for 10,000 models', () => {
    assert.equal(parseKey({ quota: { per_model: perModel(KEY_MODELS_MAX) } }).quota?.perModel?.size, 10_000);
  });

  it('with an allowlist and per-model limits at once, each kept as it is', () => {
    const key = parseKey({ allowed_models: ['a'], quota: { per_model: { m: MODEL_LIMITS } } });
    assert.deepEqual(key.allowedModels, new Set(['a']));
    assert.deepEqual([...(key.quota?.perModel?.keys() ?? [])], ['m']);
  });
});
