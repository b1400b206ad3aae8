// The one reader of request bodies: real bytes under one limit, however they arrive, and broken uploads named.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer } from '../support/test-router.ts';
import { bodyOf, chunks, codeOf, endless, inPieces, reader, untouched } from './body-reading.ts';
import {
  CHAT,
  claimsOf,
  counted,
  errorOf,
  outcomeOf,
  rejections,
  sendStream,
  sha256Hex,
  siteA,
  siteB,
  tokenForB,
} from './redirect-fixture.ts';

const LIMIT = 1_024;

describe('the limit of a body', () => {
  for (const [size, outcome] of [
    [LIMIT, '307 model_redirected'],
    [LIMIT + 1, '413 request_invalid'],
  ] as const) {
    it(`${size} of ${LIMIT} bytes: ${outcome}, with Content-Length and chunked (R-035, E15)`, async () => {
      const body = bodyOf(size);
      const bytes = new TextEncoder().encode(body);
      const declared = { ...bearer('key-1'), 'content-length': String(size) };
      assert.equal(await outcomeOf(siteA({ maxRequestBytes: LIMIT }).ask(CHAT, body, declared)), outcome);
      for (const cut of [1, 500, size - 1]) {
        const stream = chunks(bytes.subarray(0, cut), bytes.subarray(cut));
        const response = sendStream(siteA({ maxRequestBytes: LIMIT }), CHAT, stream, bearer('key-1'));
        assert.equal(await outcomeOf(response), outcome, `cut at ${cut}`);
      }
    });
  }

  it('is 10,485,760 bytes: that many pass (E15)', async () => {
    const body = bodyOf(10_485_760);
    const response = await siteA().ask(CHAT, body, bearer('key-1'));
    assert.equal(claimsOf(response).bodyHash, sha256Hex(body));
    assert.equal(await outcomeOf(siteA().ask(CHAT, bodyOf(10_485_761), bearer('key-1'))), '413 request_invalid');
  });

  it('names itself in the answer (api.md 6.2)', async () => {
    const response = await siteA({ maxRequestBytes: LIMIT }).ask(CHAT, bodyOf(LIMIT + 1), bearer('key-1'));
    assert.match(String((await errorOf(response))['message']), /larger than 1024 bytes/);
  });

  it('is kept by a declared length alone: nothing is read of what is declared too large (R-035)', async () => {
    const site = siteA({ maxRequestBytes: LIMIT });
    const response = sendStream(site, CHAT, untouched(), { ...bearer('key-1'), 'content-length': String(LIMIT + 1) });
    assert.equal(await outcomeOf(response), '413 request_invalid');
  });

  it('stops reading a chunked body at the first byte too many (T-42)', async () => {
    const body = endless();
    const site = siteA({ maxRequestBytes: LIMIT });
    assert.equal(await outcomeOf(sendStream(site, CHAT, body.stream, bearer('key-1'))), '413 request_invalid');
    assert.ok(body.given <= 13, `${body.given} chunks were read`);
    assert.ok(body.isCancelled);
  });

  it('comes before the judgement of what the body says, and after the key (D-02)', async () => {
    const site = siteA({ maxRequestBytes: 4 });
    assert.equal(await outcomeOf(site.ask(CHAT, '{{{{{', bearer('key-1'))), '413 request_invalid');
    assert.equal(await outcomeOf(site.ask(CHAT, '{{{{{')), '401 unauthorized');
  });
});

describe('readBody()', () => {
  const whole = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);

  it('joins chunks of any size into the same bytes (R-219)', async () => {
    for (const size of [1, 7, 4_096, 16_384, 16_385, 99_999, 100_000]) {
      const { bytes } = await reader(inPieces(whole, size)).read();
      assert.deepEqual(bytes, whole, `chunks of ${size}`);
    }
  });

  it('hands out the hash of what it read (R-090)', async () => {
    const declared = { 'content-length': String(whole.length) };
    for (const isHashed of [true, false]) {
      for (const headers of [{}, declared]) {
        const body = await reader(inPieces(whole, 999), { isHashed, headers }).read();
        assert.equal(body.hash(), sha256Hex(whole));
        assert.deepEqual(body.bytes, whole);
      }
    }
  });

  it('takes the hash of a large body on the way when a token is at hand, and else not at all (T-43, E15)', async () => {
    const other = whole.with(0, 1);
    for (const headers of [{}, { 'content-length': String(whole.length) }]) {
      for (const [isHashed, hashed] of [
        [true, whole],
        [false, other],
      ] as const) {
        const body = await reader(inPieces(whole, 999), { isHashed, headers }).read();
        body.bytes[0] = 1;
        assert.equal(body.hash(), sha256Hex(hashed));
      }
    }
  });

  for (const [asking, size, isWhole] of [
    ['on its key alone', 100_000, true],
    ['on a token', 65_536, true],
    ['on a token', 65_537, false],
  ] as const) {
    it(`of a request ${asking}, ${size} bytes, is read ${isWhole ? 'in one go' : 'and hashed piece by piece'} (E15)`, async () => {
      const [body, site] = [bodyOf(size), siteB()];
      const target = asking === 'on a token' ? `?rt=${tokenForB({ bodyHash: sha256Hex(body) })}` : '';
      const headers = { ...bearer('key-1'), 'content-length': String(size) };
      let wholeReads = 0;
      class Watched extends Request {
        override arrayBuffer(): Promise<ArrayBuffer> {
          wholeReads += 1;
          return super.arrayBuffer();
        }
      }
      const request = new Watched(`https://site-fr-2.example.com${CHAT}${target}`, { method: 'POST', body, headers });
      request.headers.set('host', 'site-fr-2.example.com');
      const connection = {
        remoteAddress: '',
        allowSilence: () => undefined,
        endSilence: () => undefined,
        closeSoon: () => undefined,
      };
      const response = await site.fetch(request, connection);
      assert.equal(response.status, 200, await response.text());
      assert.deepEqual(await rejections(site), counted());
      assert.equal(wholeReads, isWhole ? 1 : 0);
    });
  }

  it('reads empty chunks, an empty body and none at all (D-36)', async () => {
    const [empty, one] = [new Uint8Array(0), Uint8Array.of(7)];
    const read = async (body: BodyInit | null, headers = {}) =>
      (await reader(body, { maxBytes: 1, headers }).read()).bytes;
    assert.deepEqual(await read(chunks(empty, one, empty)), one);
    assert.deepEqual(await read(chunks()), empty);
    assert.deepEqual(await read(null), empty);
    assert.deepEqual(await read('', { 'content-length': '0' }), empty);
  });

  it('survives a flood of one-byte chunks (T-42)', async () => {
    let left = 100_000;
    const flood = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left === 0) controller.close();
        else controller.enqueue(Uint8Array.of(left % 256));
        left -= 1;
      },
    });
    assert.equal((await reader(flood).read()).bytes.byteLength, 100_000);
  });

  it('trusts no declared length: more bytes than the limit are too large all the same (R-035, R-218)', async () => {
    for (const isHashed of [true, false]) {
      const lying = reader('12345', { maxBytes: 4, isHashed, headers: { 'content-length': '3' } });
      assert.equal(await codeOf(lying.read()), 'body_too_large');
    }
  });

  it('holds the runtime’s idle timeout off while it reads, and no longer: the deadline is ours (E15)', async () => {
    for (const body of ['{}', chunks(Uint8Array.of(1))]) {
      const { read, silence } = reader(body);
      await read();
      assert.deepEqual(silence, ['allow 60000 ms', 'end']);
    }
    const broken = reader(new ReadableStream({ start: (controller) => controller.error(new Error('gone')) }));
    assert.equal(await codeOf(broken.read()), 'request_invalid');
    assert.deepEqual(broken.silence, ['allow 60000 ms', 'end']);
  });

  it('names an upload that breaks off request_invalid, without its cause (R-207)', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Uint8Array.of(0x7b));
        controller.error(new Error('connection to 10.0.0.1 lost'));
      },
    });
    const response = await sendStream(siteA(), CHAT, broken, bearer('key-1'));
    assert.equal(response.status, 400);
    assert.doesNotMatch(await response.text(), /10\.0\.0\.1/);
    const declared = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('gone')) });
    assert.equal(await codeOf(reader(declared, { headers: { 'content-length': '9' } }).read()), 'request_invalid');
  });
});
