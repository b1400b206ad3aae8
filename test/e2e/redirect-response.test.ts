// The 307 as it goes over the wire, byte by byte: what clients that read its body, keep its connection or show it to a
// browser need of it (clients.md, sections 4, 5 and 7).

import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { postText, RawConnection } from '../support/raw-connection.ts';
import {
  createGround,
  type Ground,
  keyDocument,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const DOMAIN = 'wire.localhost';
/** Content type and length of the head of a TLS record with application data (RFC 8446 §5.1). */
const APPLICATION_DATA = 23;
const RECORD_HEAD_BYTES = 5;
const CLIENT_ID = '018f6b1e-7c1a-4000-8000-0123456789ab';
const EXPOSED = /^access-control-expose-headers: .*X-Request-ID.*x-should-retry/im;

interface Case {
  readonly siteId: string;
  readonly targetId: string;
  readonly secretId: string;
  readonly keyId: string;
  readonly model: string;
  readonly path: string;
  /** Characters of the token. */
  readonly tokenLength: number;
  /** Bytes of head and body. */
  readonly lengthMax: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'as most are': {
    siteId: 'site-fr-1',
    targetId: 'site-fr-2',
    secretId: 'k1',
    keyId: 'key-1',
    model: 'llama-3-70b',
    path: '/v1/chat/completions',
    tokenLength: 292,
    lengthMax: 2048,
  },
  'with everything at its longest (R-091)': {
    siteId: `${'a'.repeat(31)}.${'a'.repeat(32)}`,
    targetId: 'b'.repeat(64),
    secretId: 'k'.repeat(16),
    keyId: 'k'.repeat(255),
    model: 'm'.repeat(256),
    path: '/v1/messages/count_tokens',
    tokenLength: 1112,
    lengthMax: 2560,
  },
};

let ground: Ground;

before(async () => {
  ground = await createGround();
});

after(() => ground.remove());

/** A TCP hop in front of a site; `records` is how many records of application data the site has sent. */
interface Wire {
  readonly url: string;
  readonly records: () => number;
  close(): void;
}

async function startWire(site: SiteProcess): Promise<Wire> {
  let records = 0;
  let rest = Buffer.alloc(0);
  const count = (bytes: Buffer): void => {
    rest = Buffer.concat([rest, bytes]);
    for (let end = endOfRecord(rest); end <= rest.length; end = endOfRecord(rest)) {
      if (rest[0] === APPLICATION_DATA) records += 1;
      rest = rest.subarray(end);
    }
  };
  const server = createServer((client) => {
    const behind = connect(Number(new URL(site.url).port), '127.0.0.1');
    behind.on('data', count);
    behind.pipe(client).pipe(behind);
    for (const socket of [client, behind]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(site.url);
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.origin, records: () => records, close: () => void server.close() };
}

function endOfRecord(bytes: Buffer): number {
  return bytes.length < RECORD_HEAD_BYTES ? Number.POSITIVE_INFINITY : RECORD_HEAD_BYTES + bytes.readUInt16BE(3);
}

/** The answer that begins at `from`, once all of it is there: its head, and its body by Content-Length. */
async function answerFrom(connection: RawConnection, from: number): Promise<{ head: string; body: string }> {
  const partsOf = (text: string) => {
    const answer = text.slice(from);
    const end = answer.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)\r$/im.exec(answer.slice(0, end + 1))?.[1] ?? Number.NaN);
    return { head: answer.slice(0, end + 2), body: answer.slice(end + 4), length };
  };
  const parts = partsOf(
    await connection.until((text) => {
      const { head, body, length } = partsOf(text);
      return head.length > 2 && !(body.length < length);
    }),
  );
  assert.equal(parts.body.length, parts.length, 'Content-Length is not the length of the body');
  return parts;
}

describe('The 307 on the wire', () => {
  for (const [name, { siteId, targetId, secretId, keyId, model, path, ...sizes }] of Object.entries(CASES)) {
    describe(name, () => {
      const key = { id: keyId, secret: 'sk-of-the-wire' };
      let site: SiteProcess;
      let wire: Wire;
      let connection: RawConnection;
      let head = '';
      let body = '';
      let records = 0;

      before(async () => {
        const secrets = `${secretId}:0123456789abcdef0123456789abcdef`;
        site = await startSite(ground, { id: siteId, domain: DOMAIN, engines: [], secrets, adminKey: 'admin-key' });
        await push(site, '/admin/api-keys/replace', keyDocument([key]));
        const target = { id: targetId, url: `https://target.${DOMAIN}` };
        const entries = [
          { site, models: {} },
          { site: target, models: { [model]: 'chat' as const } },
        ];
        await push(site, '/admin/sibling-map', mapDocument(1, entries));
        wire = await startWire(site);
        connection = await RawConnection.open(wire.url, ground.ca);
        // Whatever TLS itself has to say after a handshake is said by then.
        connection.send(`GET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
        await answerFrom(connection, 0);
        ({ head, body, records } = await ask());
      });

      after(async () => {
        connection.leave();
        wire.close();
        await site.kill();
      });

      async function ask(): Promise<{ head: string; body: string; records: number }> {
        const before = { records: wire.records(), length: connection.received.length };
        const headers = [
          `Authorization: Bearer ${key.secret}`,
          `X-Request-ID: ${CLIENT_ID}`,
          'Accept-Encoding: gzip, br',
        ];
        connection.send(postText(site.url, path, { model, messages: [] }, headers));
        const answer = await answerFrom(connection, before.length);
        return { ...answer, records: wire.records() - before.records };
      }

      it('is one record with a body below 2 KB', () => {
        assert.match(head, /^HTTP\/1\.1 307 /);
        assert.equal(records, 1);
        assert.ok(body.length < 2048, String(body.length));
        assert.ok(head.length + body.length < sizes.lengthMax, String(head.length + body.length));
      });

      it('has an absolute Location with a token of the expected length (R-075)', () => {
        const [, location = ''] = /^location: (\S+)\r$/im.exec(head) ?? [];
        assert.ok(location.startsWith(`https://target.${DOMAIN}${path}?rt=v2.`), location.slice(0, 80));
        assert.equal(new URL(location).searchParams.get('rt')?.length, sizes.tokenLength);
      });

      it('is JSON that tells how to follow, not encoded and not to be stored (R-078, R-079, E4)', () => {
        const { error } = JSON.parse(body) as { error: Record<string, unknown> };
        assert.equal(error['code'], 'model_redirected');
        assert.equal(error['site'], targetId);
        assert.match(String(error['message']), /curl -L or httpx follow_redirects=True/);
        assert.match(head, /^content-type: application\/json/im);
        assert.match(head, /^cache-control: no-store\r$/im);
        assert.doesNotMatch(head, /^(?:content-encoding|transfer-encoding|set-cookie|retry-after|connection: close)/im);
      });

      it('is open to browsers, with both request IDs to read (E3)', () => {
        assert.match(head, /^access-control-allow-origin: \*\r$/im);
        assert.match(head, EXPOSED);
        assert.match(head, /^x-request-id: [0-9a-f-]{36}\r$/im);
        assert.match(head, new RegExp(`^x-client-request-id: ${CLIENT_ID}\\r$`, 'im'));
      });

      it('leaves the connection open for the next request', async () => {
        const next = await ask();
        assert.match(next.head, /^HTTP\/1\.1 307 /);
        assert.notEqual(/^location: (.*)$/im.exec(next.head)?.[1], /^location: (.*)$/im.exec(head)?.[1]);
      });
    });
  }
});
