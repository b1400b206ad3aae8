import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { embed } from '../../src/mock-engine/embeddings.ts';
import { EngineUnderTest } from './engine-under-test.ts';

const PATH = '/v1/embeddings';

function post(fields: object): Promise<Response> {
  return new EngineUnderTest({ capability: 'embedding' }).post(PATH, { model: 'tiny', ...fields });
}

async function vectors(fields: object): Promise<readonly number[][]> {
  const { data } = await (await post(fields)).json();
  return data.map(({ embedding }: { embedding: number[] }) => embedding);
}

const cosine = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);

describe('embed()', () => {
  it('is a unit vector, the same each time', () => {
    const vector = embed('some text');
    assert.equal(vector.length, 64);
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
    assert.deepEqual(embed('some text'), vector);
  });

  it('is nearer the more words two texts share', () => {
    const paris = embed('Paris is the capital of France');
    const near = cosine(paris, embed('What is the capital of France?'));
    const far = cosine(paris, embed('bread needs flour water salt'));
    assert.ok(near > 0.7 && far < 0.4 && cosine(paris, paris) > 0.999, `${near} ${far}`);
  });

  it('reads words of every script', () => {
    const japan = embed('日本');
    assert.ok(cosine(japan, japan) > 0.999);
    assert.ok(cosine(japan, embed('中国')) < 0.5);
  });

  it('is all zeros for a text without words', () => {
    assert.ok(embed(' …').every((part) => part === 0));
  });
});

describe('embeddings', () => {
  it('answers with a vector for each text, and the usage', async () => {
    const answer = await (await post({ input: ['hello', 'good bye'], dimensions: 3 })).json();
    assert.deepEqual(answer, {
      id: 'embd-gpu-1-1',
      object: 'list',
      model: 'tiny',
      data: [
        { object: 'embedding', index: 0, embedding: [...embed('hello', 3)] },
        { object: 'embedding', index: 1, embedding: [...embed('good bye', 3)] },
      ],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
  });

  it('encodes the same vector as little-endian floats in base64', async () => {
    const [floats] = await vectors({ input: 'hello' });
    const { data } = await (await post({ input: 'hello', encoding_format: 'base64' })).json();
    const bytes = Buffer.from(data[0].embedding, 'base64');
    assert.deepEqual(
      Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)),
      floats,
    );
  });

  for (const [input, count] of [
    ['text', 1],
    [[1, 2, 3], 1],
    [['a', 'b'], 2],
    [[[1, 2], [3]], 2],
  ] as const) {
    it(`takes ${JSON.stringify(input)} as ${count}`, async () => {
      assert.equal((await vectors({ input })).length, count);
    });
  }

  it('tells rows of tokens apart', async () => {
    const [one, other] = await vectors({ input: [[1, 2], [3]] });
    assert.notDeepEqual(one, other);
  });

  for (const [fields, path] of [
    [{ input: [] }, 'input'],
    [{ input: [[]] }, 'input'],
    [{ input: 5 }, 'input'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: 'a', dimensions: 4097 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ] as const) {
    it(`refuses ${JSON.stringify(fields)}, naming ${path}`, async () => {
      const response = await post(fields);
      assert.equal(response.status, 400);
      assert.ok((await response.json()).error.message.startsWith(`${path}: `));
    });
  }

  it('takes 1 to 4096 dimensions', async () => {
    for (const dimensions of [1, 4096])
      assert.equal((await vectors({ input: 'a', dimensions }))[0]?.length, dimensions);
  });
});
