// Encoded bodies: decoded for parsing and forwarding, hashed as they came (E5).

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { ADMIN_KEY, bearer } from '../support/test-router.ts';
import { bodyOf, codeOf, reader, untouched } from './body-reading.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  counted,
  errorOf,
  locationOf,
  outcomeOf,
  rejections,
  sendStream,
  sha256Hex,
  siteA,
  siteB,
  tokenForB,
} from './redirect-fixture.ts';

const KEY = bearer('key-1');
/** Every way a client may encode, by the name it sends. */
const CODINGS: Readonly<Record<string, readonly [name: string, encode: (body: string | Uint8Array) => Uint8Array]>> = {
  gzip: ['gzip', gzipSync],
  'gzip, in capitals': ['GZIP', gzipSync],
  'x-gzip': ['x-gzip', gzipSync],
  br: ['br', brotliCompressSync],
  'deflate (zlib)': ['deflate', deflateSync],
  'deflate (raw)': ['deflate', deflateRawSync],
  zstd: ['zstd', zstdCompressSync],
};

/** Digits that no JavaScript number holds. */
const EXACT = '{"model":"m","seed":9007199254740993,"x":"é\u{1f600}"}';

function decoded(bytes: Uint8Array, name: string, maxBytes = 1_000_000): Promise<string> {
  const { readContent } = reader(bytes as BodyInit, {
    maxBytes,
    budgetBytes: 100_000_000,
    headers: { 'content-encoding': name },
  });
  return readContent().then(
    (content) => Buffer.from(content).toString(),
    (error: unknown) => Promise.reject(error),
  );
}

for (const [coding, [name, encode]] of Object.entries(CODINGS)) {
  describe(`a body in ${coding}`, () => {
    const encoded = encode(EXACT);

    it('reaches the engine decoded, digit by digit, and without the header (E5, E6)', async () => {
      const site = siteB();
      const response = await site.ask(CHAT, encoded, { ...KEY, 'content-encoding': name });
      assert.equal(response.status, 200);
      const [call] = site.engineCalls;
      assert.equal(Buffer.from(call?.body ?? []).toString(), EXACT);
      assert.equal(call?.headers.has('content-encoding'), false);
    });

    it('is redirected by the hash of its wire bytes, and served by the target (R-090)', async () => {
      const response = await siteA().ask(CHAT, encoded, { ...KEY, 'content-encoding': name });
      assert.equal(claimsOf(response).bodyHash, sha256Hex(encoded));
      const { pathname, search } = locationOf(response);
      const sites = [siteB(), siteB({ siteId: 'site-de-1' }), siteB({ siteId: 'site-us-1' })];
      const site = sites.find((candidate) => candidate.ports.redirect?.siteId === claimsOf(response).target);
      assert.ok(site !== undefined);
      assert.equal((await site.ask(pathname + search, encoded, { 'content-encoding': name })).status, 200);
      assert.equal(Buffer.from(site.engineCalls[0]?.body ?? []).toString(), EXACT);
      assert.deepEqual(await rejections(site), counted());
    });

    it('of any size is what was encoded', async () => {
      for (const size of [20, 1_000, 65_536, 65_537, 400_000]) {
        const text = bodyOf(size);
        assert.equal(await decoded(encode(text), name), text, `${size} bytes`);
      }
    });

    it('may decode to the limit, and one byte more is a 413 (E5, R-035)', async () => {
      assert.equal((await decoded(encode(bodyOf(300_000)), name, 300_000)).length, 300_000);
      await assert.rejects(decoded(encode(bodyOf(300_001)), name, 300_000), { code: 'body_too_large' });
    });

    it('is cut off as a bomb while little of it is decoded (E5)', async () => {
      const bomb = encode(Buffer.alloc(64 * 1024 * 1024, 0x20));
      const { budget, share, readContent } = reader(bomb as BodyInit, {
        budgetBytes: 100_000_000,
        headers: { 'content-encoding': name, 'content-length': String(bomb.byteLength) },
      });
      assert.equal(await codeOf(readContent()), 'body_too_large');
      assert.ok(share.bodyBytes <= bomb.byteLength + 100_000, `${share.bodyBytes} bytes were taken`);
      budget.giveBack(share);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(budget.bytes, 0, 'nothing is decoded behind its back');
    });

    it('is a 400 when it is cut short, goes on after its end, is another coding or empty', async () => {
      const wrongs: readonly Uint8Array[] = [
        encoded.subarray(0, -1),
        encoded.subarray(0, encoded.byteLength >> 1),
        encoded.subarray(0, 3),
        Buffer.concat([encoded, Buffer.from('x')]),
        Buffer.concat([encoded, Buffer.alloc(8)]),
        Buffer.from(EXACT),
        Buffer.alloc(0),
        encode === zstdCompressSync ? gzipSync(EXACT) : zstdCompressSync(EXACT),
      ];
      for (const [index, wrong] of wrongs.entries()) {
        const response = await siteB().ask(CHAT, wrong, { ...KEY, 'content-encoding': name });
        const { code, message } = await errorOf(response);
        assert.equal(`${response.status} ${String(code)}`, '400 request_invalid', `case ${index}`);
        assert.match(String(message), /not one whole (gzip|deflate|br|zstd) body/, `case ${index}`);
      }
    });

    it('may be an admin document', async () => {
      const response = await siteA().send('/admin/api-keys/replace', {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-encoding': name },
        body: encode('{"version":"2","keys":[]}') as BodyInit,
      });
      assert.equal(await response.text(), '{"ok":true,"count":0}');
    });
  });
}

describe('zstd', () => {
  /** The first bytes of a stream whose compressor was told to look back this far. */
  async function withWindow(log: number): Promise<Uint8Array> {
    const compressor = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: log } });
    const parts: Uint8Array[] = [];
    compressor.on('data', (part: Uint8Array) => parts.push(part));
    compressor.write('{"model"');
    await new Promise<void>((resolve) => compressor.flush(resolve));
    compressor.end(':"m"}');
    await new Promise((resolve) => compressor.on('end', resolve));
    return Buffer.concat(parts);
  }

  it('may look back 8 MiB and no further, for a few bytes would take that memory (RFC 9659)', async () => {
    assert.equal(await decoded(await withWindow(23), 'zstd'), '{"model":"m"}');
    await assert.rejects(decoded(await withWindow(24), 'zstd'), { code: 'request_invalid', message: /8 MiB/ });
  });

  it('with a wrong checksum is a 400', async () => {
    const frame = zstdCompressSync(EXACT, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const last = frame.byteLength - 1;
    frame[last] = (frame[last] ?? 0) ^ 1;
    await assert.rejects(decoded(frame, 'zstd'), { code: 'request_invalid' });
  });
});

describe('deflate', () => {
  /** Bare deflate that begins with a stored block, whose five spare bits are ones here and there (RFC 1951 §3.2.4). */
  function storedBlock(firstByte: number, text: string): Uint8Array {
    const content = Buffer.from(text);
    const header = Buffer.alloc(5);
    header.writeUInt8(firstByte);
    header.writeUInt16LE(content.byteLength, 1);
    header.writeUInt16LE(0xffff ^ content.byteLength, 3);
    return Buffer.concat([header, content, deflateRawSync('')]);
  }

  const spare = [
    ['a length that no zlib header has for its check', 0x08, 1],
    ['a method that zlib does not have', 0x88, (31 - ((0x88 << 8) % 31)) % 31],
  ] as const;
  for (const [what, firstByte, length] of spare) {
    it(`is bare when it begins like zlib but with ${what}`, async () => {
      const text = 'x'.repeat(length);
      assert.equal(await decoded(storedBlock(firstByte, text), 'deflate'), text);
    });
  }
});

describe('a Content-Encoding that is not served', () => {
  for (const encoding of [
    'compress',
    'x-compress',
    'x-br',
    'gzip, br',
    'gzip, gzip',
    'identity, gzip',
    'gzip,',
    'rot13',
    '*',
  ]) {
    it(`${encoding}: 415 with what is, before the body and after the key (E5, RFC 9110 §15.5.16)`, async () => {
      const headers = { ...KEY, 'content-encoding': encoding };
      const response = await sendStream(siteA(), CHAT, untouched(), headers);
      assert.equal(response.headers.get('accept-encoding'), 'gzip, deflate, br, zstd');
      assert.match(String((await errorOf(response.clone()))['message']), /one of gzip, deflate, br, zstd/);
      assert.equal(await outcomeOf(response), '415 request_invalid');
      const unknown = siteA().ask(CHAT, '{}', { 'content-encoding': encoding });
      assert.equal(await outcomeOf(unknown), '401 unauthorized');
    });
  }

  for (const encoding of ['identity', 'Identity', 'IDENTITY', '']) {
    it(`is not ${JSON.stringify(encoding)}, which is none (E5)`, async () => {
      const headers = { ...KEY, 'content-encoding': encoding };
      assert.equal(await outcomeOf(siteA().ask(CHAT, '{"model":"m"}', headers)), '307 model_redirected');
    });
  }
});

describe('a token and an encoded body', () => {
  const gzip = { 'content-encoding': 'gzip' };
  const broken = gzipSync(CHAT_BODY).subarray(0, -1);
  const bomb = gzipSync(bodyOf(100_000));

  it('a body that the token was not issued for is a refused token, whatever it decodes to (D-36)', async () => {
    for (const body of [broken, bomb, Buffer.alloc(0)]) {
      const site = siteB({ maxRequestBytes: 50_000 });
      assert.equal(await outcomeOf(site.ask(`${CHAT}?rt=${tokenForB()}`, body, gzip)), '401 unauthorized');
      assert.deepEqual(await rejections(site), counted({ body: 1 }));
    }
  });

  it('falls back to the own key with the body already read, and decodes that (R-122)', async () => {
    const site = siteB();
    const body = gzipSync(CHAT_BODY);
    assert.equal((await site.ask(`${CHAT}?rt=${tokenForB()}`, body, { ...gzip, ...KEY })).status, 200);
    assert.equal(Buffer.from(site.engineCalls[0]?.body ?? []).toString(), CHAT_BODY);
    assert.equal(
      await outcomeOf(site.ask(`${CHAT}?rt=${tokenForB()}`, broken, { ...gzip, ...KEY })),
      '400 request_invalid',
    );
  });

  it('a token is not used up by a body that cannot be decoded within the limit (D-37)', async () => {
    for (const [body, outcome] of [
      [bomb, '413 request_invalid'],
      [broken, '400 request_invalid'],
    ] as const) {
      const site = siteB({ maxRequestBytes: 50_000 });
      const token = tokenForB({ bodyHash: sha256Hex(body) });
      const use = () => outcomeOf(site.ask(`${CHAT}?rt=${token}`, body, gzip));
      assert.equal(await use(), outcome);
      assert.equal(await use(), outcome, 'not a replay');
      assert.deepEqual(await rejections(site), counted());
    }
  });

  it('is bound to the wire: the same text encoded otherwise is another body (E5)', async () => {
    const site = siteB();
    const token = tokenForB({ bodyHash: sha256Hex(gzipSync(CHAT_BODY)) });
    assert.equal(await outcomeOf(site.ask(`${CHAT}?rt=${token}`, CHAT_BODY)), '401 unauthorized');
  });
});
