// The one reader of request bodies: real bytes under one limit, encodings refused, broken uploads named.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RouterError } from '../../src/errors.ts';
import { readBody } from '../../src/http/body.ts';
import { bearer } from '../support/test-router.ts';
import { CHAT, claimsOf, errorOf, outcomeOf, sendStream, sha256Hex, siteA } from './redirect-fixture.ts';

const LIMIT = 1_024;

/** `{"model":"m","x":"…"}` of exactly `size` bytes. */
function bodyOf(size: number): string {
  const frame = '{"model":"m","x":""}';
  return frame.replace('""', `"${'x'.repeat(size - frame.length)}"`);
}

function chunks(...parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request('https://x', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

async function codeOf(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => 'read',
    (error: unknown) => (error instanceof RouterError ? error.code : String(error)),
  );
}

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
    const untouched = new ReadableStream<Uint8Array>(
      {
        pull: () => {
          throw new Error('the body was read');
        },
      },
      { highWaterMark: 0 },
    );
    const site = siteA({ maxRequestBytes: LIMIT });
    const response = sendStream(site, CHAT, untouched, { ...bearer('key-1'), 'content-length': String(LIMIT + 1) });
    assert.equal(await outcomeOf(response), '413 request_invalid');
  });

  it('stops reading a chunked body at the first byte too many (T-42)', async () => {
    let given = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          given += 1;
          controller.enqueue(new Uint8Array(100));
        },
        cancel: () => {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const site = siteA({ maxRequestBytes: LIMIT });
    assert.equal(await outcomeOf(sendStream(site, CHAT, endless, bearer('key-1'))), '413 request_invalid');
    assert.ok(given <= 13, `${given} chunks were read`);
    assert.ok(isCancelled);
  });

  it('comes before the judgement of what the body says, and after the key (D-02)', async () => {
    const site = siteA({ maxRequestBytes: 4 });
    assert.equal(await outcomeOf(site.ask(CHAT, '{{{{{', bearer('key-1'))), '413 request_invalid');
    assert.equal(await outcomeOf(site.ask(CHAT, '{{{{{')), '401 unauthorized');
  });
});

describe('readBody()', () => {
  it('joins chunks of any size into the same bytes (R-219)', async () => {
    const whole = Uint8Array.from({ length: 40_000 }, (_, index) => index % 251);
    for (const size of [1, 7, 4_096, 16_384, 16_385, 39_999, 40_000]) {
      const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.subarray(index * size, (index + 1) * size),
      );
      const body = await readBody(post(chunks(...parts)), 40_000);
      assert.deepEqual(body, whole, `chunks of ${size}`);
    }
  });

  it('reads empty chunks, an empty body and none at all (D-36)', async () => {
    const [empty, one] = [new Uint8Array(0), Uint8Array.of(7)];
    assert.deepEqual(await readBody(post(chunks(empty, one, empty)), 1), one);
    assert.deepEqual(await readBody(post(chunks()), 0), empty);
    assert.deepEqual(await readBody(post(null), 0), empty);
    assert.deepEqual(await readBody(post('', { 'content-length': '0' }), 0), empty);
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
    assert.equal((await readBody(post(flood), 100_000)).byteLength, 100_000);
  });

  it('trusts no declared length: more bytes than the limit are too large all the same (R-035, R-218)', async () => {
    assert.equal(await codeOf(readBody(post('12345', { 'content-length': '3' }), 4)), 'body_too_large');
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
    assert.equal(await codeOf(readBody(post(declared, { 'content-length': '9' }), 10)), 'request_invalid');
  });

  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'gzip, br', 'identity, gzip', 'unknown']) {
    it(`refuses Content-Encoding ${encoding} with 415, before the body and after the key (D-35, issue 2)`, async () => {
      const untouched = new ReadableStream<Uint8Array>(
        {
          pull: () => {
            throw new Error('the body was read');
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { ...bearer('key-1'), 'content-encoding': encoding };
      assert.equal(await outcomeOf(sendStream(siteA(), CHAT, untouched, headers)), '415 request_invalid');
      const unknown = siteA().ask(CHAT, '{}', { 'content-encoding': encoding });
      assert.equal(await outcomeOf(unknown), '401 unauthorized');
    });
  }

  for (const encoding of ['identity', 'Identity', 'IDENTITY', '']) {
    it(`takes Content-Encoding ${JSON.stringify(encoding)} for none (E5)`, async () => {
      const headers = { ...bearer('key-1'), 'content-encoding': encoding };
      assert.equal(await outcomeOf(siteA().ask(CHAT, '{"model":"m"}', headers)), '307 model_redirected');
    });
  }
});
