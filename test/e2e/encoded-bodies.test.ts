// Encoded bodies as coding agents send them: served where they arrive and where they are redirected to, with every digit
// as it was sent (E5, R-219).

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Country } from '../support/country-of-sites.ts';
import { type RouterProcess, startRouter, untilServing } from '../support/router-process.ts';

const PATH = '/v1/chat/completions';
const CODINGS = { gzip: gzipSync, zstd: zstdCompressSync, br: brotliCompressSync, deflate: deflateSync } as const;
/** A number that no JavaScript program can read and write again. */
const EXACT = '{"model":"exact", "seed": 9007199254740993, "messages":[{"role":"user","content":"é \\u00e9"}]}';

interface Seen {
  readonly body: string;
  readonly encoding: string | undefined;
}

describe('A body', () => {
  const seen: Seen[] = [];
  let engine: Server;
  let router: RouterProcess;

  before(async () => {
    engine = createServer(async (request, response) => {
      if (request.method === 'POST') {
        seen.push({ body: await textOf(request), encoding: request.headers['content-encoding'] });
        return response.end('{}');
      }
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'exact', object: 'model' }] }));
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    const { port } = engine.address() as AddressInfo;
    router = await startRouter(['--engine', `vllm=http://127.0.0.1:${port}`]);
    await untilServing(router, ['exact']);
  });

  after(async () => {
    await router.kill();
    engine.closeAllConnections();
    await new Promise((resolve) => engine.close(resolve));
  });

  it('reaches the engine byte for byte, a seed of 9007199254740993 included (E6, R-219)', async () => {
    assert.equal((await fetch(router.url + PATH, { method: 'POST', body: EXACT })).status, 200);
    assert.deepEqual(seen.at(-1), { body: EXACT, encoding: undefined });
  });

  for (const [coding, encode] of Object.entries(CODINGS)) {
    it(`in ${coding} reaches it decoded, to the byte (E5)`, async () => {
      const headers = { 'content-encoding': coding };
      const answer = await fetch(router.url + PATH, { method: 'POST', headers, body: new Uint8Array(encode(EXACT)) });
      assert.equal(answer.status, 200);
      assert.deepEqual(seen.at(-1), { body: EXACT, encoding: undefined });
    });
  }
});

describe('A redirected body', () => {
  let country: Country;

  before(async () => {
    country = await Country.start();
  });

  after(() => country.kill());

  for (const [coding, encode] of Object.entries(CODINGS)) {
    it(`in ${coding} is served at the target, for the client that repeats its bytes (E5, R-090)`, async () => {
      const body = encode(
        JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'light '.repeat(20_000) }] }),
      );
      const answer = await fetch(country.first.url + PATH, {
        method: 'POST',
        headers: { ...country.bearer, 'content-encoding': coding, 'content-type': 'application/json' },
        body: new Uint8Array(body),
        tls: country.tls,
      });
      assert.equal(answer.status, 200, await answer.clone().text());
      assert.ok(answer.redirected);
      assert.ok(answer.url.startsWith(country.second.url));
      assert.match(await answer.text(), /engine chat-2, model m: /);
    });
  }
});

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts).toString();
}
