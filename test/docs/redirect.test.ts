// docs/redirect.md against the code: what it prints must be what the router does.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseKeyReplacement } from '../../src/auth/key-document.ts';
import { SETTING_ROWS } from '../../src/config/settings.ts';
import { complete } from '../../src/lib/steps.ts';
import { ENDPOINT_PATHS, type RedirectClaims } from '../../src/redirect/claims.ts';
import { mintToken, openToken } from '../../src/redirect/token.ts';
import { REFUSAL_REASONS } from '../../src/redirect/verify.ts';
import { homeSet, sessionOrder } from '../../src/site/rendezvous.ts';
import { keyring, present, scope, sha256Hex, siteId } from '../http/redirect-fixture.ts';
import { bytesOf } from '../redirect/builders.ts';
import { FIELD_RULES, REQUIRED } from '../site/field-rules.ts';
import { allowedDomain, faultOf, siteId as listedId, ROUTER } from '../site/map-document.ts';

const PAGE = readFileSync(new URL('../../docs/redirect.md', import.meta.url), 'utf8');
/** The page as one line of prose, without the marks of a quotation. */
const PROSE = PAGE.replaceAll('**', '').replace(/\n>? */g, ' ');

/** What stands between two markers. */
function marked(name: string): string {
  const [, text = ''] =
    new RegExp(`<!-- ${name} -->\\n(?:\`\`\`\\w+\\n)?([\\s\\S]*?)(?:\`\`\`\\n)?<!-- /${name} -->`).exec(PAGE) ?? [];
  return text;
}

/** The cells of the rows of a table. */
function rowsOf(table: string): readonly (readonly string[])[] {
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('docs/redirect.md, the worked example', () => {
  const lines = marked('vector').trimEnd().split('\n');
  const vector = new Map(lines.map((line) => [line.slice(0, 17).trim(), line.slice(17)]));
  const field = (name: string) => present(vector.get(name));

  const claims = (): RedirectClaims => ({
    endpoint: present(ENDPOINT_PATHS.find((path) => path === field('endpoint'))),
    hop: field('hop') === '1' ? 1 : 2,
    scope: scope(field('scope')),
    issuedMs: Date.parse(field('issued')),
    lifetimeMs: Number(field('lifetime')),
    tokenId: field('token ID'),
    bodyHash: field('body hash'),
    requestId: field('request ID'),
    clientRequestId: undefined,
    origin: siteId(field('origin')),
    target: siteId(field('target')),
    keyId: field('key ID'),
    model: field('model'),
  });

  it('is the token that the router makes of it, and reads', () => {
    assert.equal(sha256Hex(field('body')), field('body hash'));
    assert.equal(present(bytesOf(claims())).toString('hex'), field('C'));
    assert.equal(mintToken(claims(), keyring(field('secret'))), field('rt'));
    assert.deepEqual(openToken(field('rt'), keyring(field('secret'))), { ok: true, value: claims() });
  });

  it('is the home set and the session order that the router finds', () => {
    const digests = [...vector].filter(([name]) => name.startsWith('H '));
    for (const [name, digest] of digests) {
      const parts = [field('key ID'), field('model'), name.slice(2)];
      assert.equal(digestOf('hivenet-router/home/v1\0', parts), digest, name);
    }
    const home = homeSet(
      field('key ID'),
      field('model'),
      digests.map(([name]) => listedId(name.slice(2))),
    );
    assert.equal(home.join(' '), field('home'));
    const session = [field('key ID'), field('session'), present(home[0])];
    assert.equal(digestOf('hivenet-router/session/v1\0', session), field('K'));
    const order = sessionOrder(field('key ID'), Buffer.from(field('session')), home);
    assert.equal(order.join(' '), field('order'));
    assert.notEqual(field('order'), field('home'), 'an example that turns nothing around shows nothing');
  });
});

/** The hash as the page describes it: a purpose, then each text behind its length. */
function digestOf(purpose: string, parts: readonly string[]): string {
  const hash = createHash('sha256').update(purpose);
  for (const part of parts.map((text) => Buffer.from(text))) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return hash.digest('hex');
}

describe('docs/redirect.md, the sibling map', () => {
  it('shows a map that the routers of both its sites accept', () => {
    const map = JSON.parse(marked('map'));
    for (const site of map.sites) {
      const router = { ...ROUTER, ownSite: listedId(site.id), domains: [allowedDomain('.inference.example.com')] };
      assert.equal(faultOf(map, router), 'accepted');
    }
    const members = new Set([map, ...map.sites, ...map.placements, map.placements[1].hint].flatMap(Object.keys));
    const named = rowsOf(marked('fields')).map(([member = '']) => present(/(\w+)`$/.exec(member)?.[1]));
    assert.deepEqual([...members].sort(), [...new Set(named)].sort());
  });

  it('has every member of the schema, with its rule and whether it is required', () => {
    const rows = new Map(
      rowsOf(marked('fields')).map(([member = '', about, rule]) => [member.slice(1, -1), { about, rule }]),
    );
    for (const [path, { rule }] of Object.entries(FIELD_RULES)) assert.equal(rows.get(path)?.rule, rule, path);
    assert.equal(rows.size, Object.keys(FIELD_RULES).length + 1, 'all of them and sites[].url');
    for (const [path, row] of rows) {
      assert.equal(/^required(?! once)/.test(row.about ?? ''), REQUIRED.includes(path), path);
    }
  });
});

describe('docs/redirect.md, for the operator', () => {
  it('shows keys that a router accepts', () => {
    assert.equal(complete(parseKeyReplacement(JSON.parse(marked('keys')))).ok, true);
  });

  it('sets every variable that its commands use, or says what it stands for', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const text of [PAGE, readme]) {
      const used = new Set([...text.matchAll(/\$([A-Z_]{3,})/g)].map(([, name = '']) => name));
      // What a client was given.
      used.delete('API_KEY');
      for (const name of used) assert.match(text, new RegExp(`\\b${name}=`), name);
      assert.ok(used.size > 0);
    }
  });

  it('explains every reason of a refusal, in the order of the checks', () => {
    const table = PAGE.slice(PAGE.indexOf('### Refusals'), PAGE.indexOf('### Runbook'));
    assert.deepEqual(
      rowsOf(table).map(([reason = '']) => reason.slice(1, -1)),
      [...REFUSAL_REASONS],
    );
  });

  it('names no setting of the router that does not exist', () => {
    const known = new Set<string>(SETTING_ROWS.flatMap(({ flag, variable }) => [flag ?? '', variable]));
    // Flags of curl.
    const others = new Set(['--location-trusted']);
    const named = [...PAGE.matchAll(/(?<![\w-])--[a-z][a-z-]+|HIVENET_ROUTER_[A-Z_]+/g)].map(([name]) => name);
    assert.ok(named.length > 15);
    for (const name of named) assert.ok(known.has(name) || others.has(name), name);
  });

  it('says that proxies and client libraries log URLs, and to keep the lifetime short (R-210)', () => {
    assert.match(PROSE, /Proxies, load balancers and client libraries do not: httpx logs every followed URL at INFO/);
    assert.match(PROSE, /keep `--redirect-token-ttl` as short as your slowest clients allow/);
    assert.match(PROSE, /a token works for anyone who has the full URL and the same body/);
  });

  it('calls the admin key a map-writer secret, as the README does (R-215)', () => {
    assert.match(PROSE, /The admin key is a map-writer secret\. Nothing else protects the push/);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    assert.match(
      readme.replace(/\n>? */g, ' '),
      /The admin key decides where clients are sent\. Treat it as a map-writer secret/,
    );
    assert.match(readme, /\(docs\/redirect\.md\)/);
  });

  it('has a place for every link within the page', () => {
    const headings = [...PAGE.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'));
    for (const [, target = ''] of PAGE.matchAll(/\]\(#([^)]+)\)/g)) assert.ok(headings.includes(target), target);
  });
});
