// The eight checks as a client meets them: each reason alone and at its limits, and the order among them.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../../src/redirect/verify.ts';
import { BODY, NEGATIVE, POSITIVE } from '../redirect/vectors.ts';
import { bearer, FIXTURE_MAP, NOW_MS, type TestRouter } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsForB,
  counted,
  follow,
  keyring,
  outcomeOf,
  rejections,
  scope,
  sha256Hex,
  siteB,
  siteId,
  tokenForB,
} from './redirect-fixture.ts';

/** What makes a request fail one check, so that two of them can be put together. */
interface Defect {
  readonly claims?: Partial<RedirectClaims>;
  readonly isForged?: boolean;
  /** Appended to the token's text. */
  readonly suffix?: string;
  readonly isUsed?: boolean;
}

const DEFECTS = {
  malformed: { suffix: '=' },
  signature: { isForged: true },
  expired: { claims: { issuedMs: NOW_MS - 65_001 } },
  clock: { claims: { issuedMs: NOW_MS + 5_001 } },
  site: { claims: { target: siteId('site-de-1') } },
  path: { claims: { endpoint: '/v1/messages' } },
  scope: { claims: { scope: scope('country:DE') } },
  key: { claims: { keyId: 'key-dis' } },
  body: { claims: { bodyHash: sha256Hex('another body') } },
  replay: { isUsed: true },
} as const satisfies Record<RefusalReason, Defect>;

/** Sends the request that has all these defects. */
async function send(site: TestRouter, ...defects: readonly Defect[]): Promise<Response> {
  const claims = claimsForB(Object.assign({}, ...defects.map((defect) => defect.claims)));
  const isForged = defects.some((defect) => defect.isForged);
  const signedBy = isForged ? keyring('k1:another-secret-another-secret-0000') : keyring();
  if (defects.some((defect) => defect.isUsed)) site.ports.redirect?.ledger.markUsed(claims, claims.issuedMs);
  return follow(site, tokenForB(claims, signedBy) + defects.map((defect) => defect.suffix ?? '').join(''));
}

async function reasonsOf(site: TestRouter): Promise<readonly string[]> {
  const counts = Object.entries(await rejections(site));
  return counts.flatMap(([reason, count]) => Array.from({ length: count }, () => reason));
}

describe('the ten reasons', () => {
  for (const reason of REFUSAL_REASONS) {
    it(`${reason}: 401, counted once under this name and logged (R-092–R-110, R-125)`, async () => {
      const site = siteB();
      assert.equal(await outcomeOf(send(site, DEFECTS[reason])), '401 unauthorized');
      assert.deepEqual(await rejections(site), counted({ [reason]: 1 }));
      assert.equal(site.accessLines.at(-1)?.['refusal_reason'], reason);
      assert.deepEqual(site.engineCalls, []);
    });
  }

  it('expired, too: what was issued before a start with keys or a map of before, or up to 5 s after it (A15)', async () => {
    const restarted = (restoredAtMs: number) => siteB({ state: { kept: undefined, restoredAtMs } });
    for (const [startMs, outcome, counts] of [
      [NOW_MS - 5_000, '200', {}],
      [NOW_MS - 4_999, '401 unauthorized', { expired: 1 }],
    ] as const) {
      const site = restarted(startMs);
      assert.ok((await outcomeOf(send(site))).startsWith(outcome));
      assert.deepEqual(await rejections(site), counted(counts));
    }
  });

  const pairs = REFUSAL_REASONS.flatMap((first, index) =>
    REFUSAL_REASONS.slice(index + 1).map((second) => [first, second] as const),
  ).filter(([first, second]) => !(first === 'expired' && second === 'clock'));

  it('can be put together in 44 pairs (R-112)', () => assert.equal(pairs.length, 44));

  for (const [first, second] of pairs) {
    it(`says ${first} of a token that is also ${second} (R-112)`, async () => {
      const site = siteB();
      await send(site, DEFECTS[first], DEFECTS[second]);
      assert.deepEqual(await reasonsOf(site), [first]);
    });
  }
});

describe('the vectors of a token', () => {
  const secrets = 'k1:0123456789abcdef0123456789abcdef,k2:second-secret-for-rotation-tests-0002';
  const target = () => {
    const extraKeys = [{ id: 'key-abc123', secret: 'sk-abc' }];
    return siteB({ secrets, extraKeys, agents: [{ models: ['llama-3-70b'] }] });
  };
  const [T1] = POSITIVE;

  it('are accepted in the form of T1 (4.5)', async () => {
    const site = target();
    assert.equal((await follow(site, T1?.text ?? '', { body: BODY })).status, 200);
    assert.equal(site.accessLines.at(-1)?.['key_id'], 'key-abc123');
  });

  for (const { name, reason, text } of NEGATIVE) {
    it(`are refused as ${reason}: ${name} (R-093, R-094, R-095, 4.6)`, async () => {
      const site = target();
      assert.equal(await outcomeOf(follow(site, encodeURIComponent(text), { body: BODY })), '401 unauthorized');
      assert.deepEqual(await reasonsOf(site), [reason]);
    });
  }

  it('are five to accept and 47 to refuse (4.5, 4.6)', () =>
    assert.deepEqual([POSITIVE.length, NEGATIVE.length], [5, 47]));
});

describe('the limits of each check', () => {
  type Case = readonly [
    what: string,
    reason: RefusalReason | 'accepted',
    token: string,
    change?: Parameters<typeof follow>[2],
  ];
  const body = (text: string) => ({ body: text });
  const GOOD = tokenForB();
  const [, , CLAIMS = '', SIGNATURE = ''] = GOOD.split('.');

  const cases: readonly Case[] = [
    ['an empty rt (R-093)', 'malformed', ''],
    ['any text (R-093)', 'malformed', 'junk'],
    ['a second rt (R-093, D-25)', 'malformed', `${GOOD}&rt=${GOOD}`],
    ['a second rt, escaped and empty (R-093, D-25)', 'malformed', `${GOOD}&%72t`],
    ['100 kB (R-093, T-17)', 'malformed', `v2.k1.${'A'.repeat(100_000)}.${SIGNATURE}`],
    ['another version (R-225, T-14)', 'malformed', `v3.k1.${CLAIMS}.${SIGNATURE}`],
    ['a JWT (T-14)', 'malformed', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJrZXktMSJ9.'],
    ['a trailing blank (R-093)', 'malformed', `${GOOD}+`],
    ['a line break (R-093)', 'malformed', `${GOOD}%0A`],
    ['an unknown secret (R-094)', 'signature', `v2.k9.${CLAIMS}.${SIGNATURE}`],
    ['the prototype as secret (T-13)', 'signature', `v2.__proto__.${CLAIMS}.${SIGNATURE}`],
    [
      'one claim changed (R-084)',
      'signature',
      `v2.k1.${CLAIMS.slice(0, -1)}${CLAIMS.endsWith('A') ? 'B' : 'A'}.${SIGNATURE}`,
    ],
    ['the last millisecond of its grace (R-098)', 'accepted', tokenForB({ issuedMs: NOW_MS - 65_000 })],
    ['one millisecond later (R-098)', 'expired', tokenForB({ issuedMs: NOW_MS - 65_001 })],
    ['issued 5 s ahead of this clock (R-099)', 'accepted', tokenForB({ issuedMs: NOW_MS + 5_000 })],
    ['one millisecond more (R-099)', 'clock', tokenForB({ issuedMs: NOW_MS + 5_001 })],
    ['for another site (R-100, T-19)', 'site', tokenForB({ target: siteId('site-us-1') })],
    ['for this site in another case (R-100)', 'site', tokenForB({ target: siteId('SITE-fr-2') })],
    ['on another path (R-101, T-18)', 'path', tokenForB({ endpoint: '/v1/messages/count_tokens' })],
    ['within the EU (R-102)', 'accepted', tokenForB({ scope: scope('EU') })],
    ['within everything (R-102)', 'accepted', tokenForB({ scope: scope('all') })],
    ['outside the scope (R-070, R-102)', 'scope', tokenForB({ scope: scope('country:US') })],
    ['an unknown key (R-104)', 'key', tokenForB({ keyId: 'key-9' })],
    ['a disabled key (R-104, T-21)', 'key', tokenForB({ keyId: 'key-dis' })],
    ['an expired key (R-104)', 'key', tokenForB({ keyId: 'key-exp' })],
    ['no key at a site with keys (R-107, T-24)', 'key', tokenForB({ keyId: '' })],
    ['the key itself beside the token (R-106)', 'accepted', tokenForB(), { headers: bearer('key-1') }],
    ['one byte changed (R-108, T-01)', 'body', tokenForB(), body(CHAT_BODY.replace('hi', 'ho'))],
    ['a blank appended (R-108)', 'body', tokenForB(), body(`${CHAT_BODY} `)],
    ['an empty body (R-108, D-36)', 'body', tokenForB(), body('')],
    ['the same JSON written anew (R-108)', 'body', tokenForB(), body(JSON.stringify(JSON.parse(CHAT_BODY), null, 1))],
    ['a wrong body that is no JSON either (R-109)', 'body', tokenForB(), body('{')],
  ];
  for (const [what, reason, token, change] of cases) {
    it(`${reason}: ${what}`, async () => {
      const site = siteB();
      const { status } = await follow(site, token, change);
      assert.equal(status, reason === 'accepted' ? 200 : 401);
      assert.deepEqual(await reasonsOf(site), reason === 'accepted' ? [] : [reason]);
    });
  }

  it('body: one byte that is no UTF-8, in place of what decoders put there (R-108)', async () => {
    const site = siteB();
    const sent = Buffer.from(CHAT_BODY.replace('hi', '\x80'), 'latin1');
    const token = tokenForB({ bodyHash: sha256Hex(new TextDecoder().decode(sent)) });
    assert.equal(await outcomeOf(site.ask(`${CHAT}?rt=${token}`, sent)), '401 unauthorized');
    assert.deepEqual(await reasonsOf(site), ['body']);
  });

  it('key: a key that was replaced or disabled since the token was made (R-104, T-21)', async () => {
    const site = siteB();
    assert.equal((await site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] })).status, 200);
    await follow(site, tokenForB());
    assert.deepEqual(await reasonsOf(site), ['key']);
  });

  it('scope: outside the EU by this router’s own map (R-102)', async () => {
    const site = siteB({ siteId: 'site-us-1' });
    const target = siteId('site-us-1');
    await follow(site, tokenForB({ target, scope: scope('EU') }));
    assert.deepEqual(await reasonsOf(site), ['scope']);
    assert.equal((await follow(site, tokenForB({ target, scope: scope('all') }))).status, 200);
  });

  it('scope: without a map only all certainly includes this site (R-103, D-23)', async () => {
    for (const [text, status] of [
      ['all', 200],
      ['EU', 401],
      ['country:FR', 401],
    ] as const) {
      const site = siteB({ map: undefined });
      assert.equal((await follow(site, tokenForB({ scope: scope(text) }))).status, status, text);
      assert.deepEqual(await reasonsOf(site), status === 200 ? [] : ['scope']);
    }
  });

  it('reads no token from another name, from a header or from the body (R-092)', async () => {
    const site = siteB();
    for (const [target, headers] of [
      [`${CHAT}?RT=${tokenForB()}`, {}],
      [`${CHAT}?art=${tokenForB()}`, {}],
      [`${CHAT}?x=%26rt=${tokenForB()}`, {}],
      [`${CHAT}?a;rt=${tokenForB()}`, {}],
      [CHAT, { rt: tokenForB() }],
      [CHAT, { cookie: `rt=${tokenForB()}` }],
    ] as const) {
      assert.equal((await site.ask(target, CHAT_BODY, headers)).status, 401, target);
    }
    const inBody = { model: 'm', rt: tokenForB() };
    assert.equal((await site.ask(CHAT, inBody)).status, 401);
    assert.deepEqual(await rejections(site), counted());
  });

  it('reads the token from a name in any escape (R-092, D-25)', async () => {
    const site = siteB();
    for (const name of ['%72t', 'r%74', 'a=1&rt']) {
      assert.equal((await site.ask(`${CHAT}?${name}=${tokenForB()}&b=2`, CHAT_BODY)).status, 200, name);
    }
  });

  it('accepts the tokens of every configured secret and of no removed one (R-155, R-157, R-158)', async () => {
    const old = 'k1:0123456789abcdef0123456789abcdef';
    const recent = 'k2:second-secret-for-rotation-tests-0002';
    const both = siteB({ secrets: `${recent},${old}` });
    assert.equal((await follow(both, tokenForB({}, keyring(old)))).status, 200);
    assert.equal((await follow(both, tokenForB({}, keyring(recent)))).status, 200);
    const rotated = siteB({ secrets: recent });
    await follow(rotated, tokenForB({}, keyring(old)));
    await follow(rotated, tokenForB({}, keyring('k2:0123456789abcdef0123456789abcdef')));
    assert.deepEqual(await rejections(rotated), counted({ signature: 2 }));
  });

  it('takes a token minted at any site at the site it names, and at no other (R-159, R-100)', async () => {
    const sites = FIXTURE_MAP.sites.map(({ id }) => id);
    for (const [origin, target] of sites.flatMap((one) =>
      sites.filter((other) => other !== one).map((other) => [one, other]),
    )) {
      if (origin === undefined || target === undefined) continue;
      const token = tokenForB({ origin: siteId(origin), target: siteId(target), scope: scope('all') });
      for (const at of sites) {
        const { status } = await follow(siteB({ siteId: at }), token);
        assert.equal(status, at === target ? 200 : 401, `${origin} to ${target} at ${at}`);
      }
    }
  });
});
