// Which header decides who asks, with and without a token, in both auth modes (E1, D-30).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEYS } from '../support/test-keys.ts';
import { bearer, type TestRouter } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  counted,
  follow,
  outcomeOf,
  readWhole,
  rejections,
  siteA,
  siteB,
  tokenForB,
} from './redirect-fixture.ts';

const THREE = { id: 'key-3', secret: 'sk-three' };

/** What a header can say, by a short name. */
const AUTHORIZATION = {
  absent: undefined,
  empty: '',
  same: `Bearer ${KEYS['key-1']}`,
  bare: KEYS['key-1'],
  other: `Bearer ${THREE.secret}`,
  unknown: 'Bearer sk-unknown',
  disabled: `Bearer ${KEYS['key-dis']}`,
  basic: `Basic ${KEYS['key-1']}`,
  lowercase: `bearer ${KEYS['key-1']}`,
} as const;

const API_KEY = {
  absent: undefined,
  empty: '',
  same: KEYS['key-1'],
  other: THREE.secret,
  unknown: 'sk-unknown',
} as const;

type Shown = readonly [keyof typeof AUTHORIZATION, keyof typeof API_KEY];

function headersOf([authorization, apiKey]: Shown): Record<string, string> {
  const shown = { authorization: AUTHORIZATION[authorization], 'x-api-key': API_KEY[apiKey] };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)) as Record<string, string>;
}

const EVERY_PAIR = (Object.keys(AUTHORIZATION) as (keyof typeof AUTHORIZATION)[]).flatMap((authorization) =>
  (Object.keys(API_KEY) as (keyof typeof API_KEY)[]).map((apiKey) => [authorization, apiKey] as const),
);

/** The key that the two headers name for a new request: `Authorization` alone if it was sent at all (E1). */
function callerOf([authorization, apiKey]: Shown): string | undefined {
  if (authorization !== 'absent') return { same: 'key-1', bare: 'key-1', other: 'key-3' }[authorization as string];
  return { same: 'key-1', other: 'key-3' }[apiKey as string];
}

/** Whether every header that was sent belongs to `key-1` (check 6, E1). */
function isAllOfKey1([authorization, apiKey]: Shown): boolean {
  return ['absent', 'same', 'bare'].includes(authorization) && ['absent', 'same'].includes(apiKey);
}

function site(authMode: 'none' | 'dynamic' = 'dynamic'): TestRouter {
  return siteB({ authMode, extraKeys: [THREE] });
}

/** `key-…` that was served, or the refusal. */
async function served(at: TestRouter, response: Promise<Response>): Promise<string> {
  const { status } = await readWhole(await response);
  return status === 200 ? String(at.accessLines.at(-1)?.['key_id']) : String(status);
}

describe('credentials in mode dynamic', () => {
  for (const shown of EVERY_PAIR) {
    const what = `Authorization ${shown[0]}, x-api-key ${shown[1]}`;

    it(`new request: ${what} (E1)`, async () => {
      const at = site();
      assert.equal(await served(at, at.ask(CHAT, CHAT_BODY, headersOf(shown))), callerOf(shown) ?? '401');
      const models = await at.send('/v1/models', { headers: headersOf(shown) });
      assert.equal(models.status, callerOf(shown) === undefined ? 401 : 200);
    });

    it(`with a token of key-1: ${what} (E1, R-105, R-106)`, async () => {
      const at = site();
      const outcome = await served(at, follow(at, tokenForB(), { headers: headersOf(shown) }));
      assert.equal(outcome, isAllOfKey1(shown) ? 'key-1' : (callerOf(shown) ?? '401'));
      assert.deepEqual(await rejections(at), counted(isAllOfKey1(shown) ? {} : { key: 1 }));
    });

    it(`fallback of a refused token: ${what} (E1, R-119, R-120)`, async () => {
      const at = site();
      const outcome = await served(at, follow(at, 'refused', { headers: headersOf(shown) }));
      assert.equal(outcome, callerOf(shown) ?? '401');
    });
  }

  it('takes two lines of one header for the key of nobody (D-29)', async () => {
    const at = site();
    for (const name of ['authorization', 'x-api-key']) {
      const headers = new Headers();
      for (let count = 0; count < 2; count += 1)
        headers.append(name, `${name === 'authorization' ? 'Bearer ' : ''}${KEYS['key-1']}`);
      const response = await at.send(`${CHAT}?rt=${tokenForB()}`, { method: 'POST', headers, body: CHAT_BODY });
      assert.equal(response.status, 401, name);
    }
    assert.deepEqual(await rejections(at), counted({ key: 2 }));
  });
});

describe('credentials in mode none', () => {
  it('ask for nothing from a new request (D-30)', async () => {
    const at = site('none');
    assert.equal(await served(at, at.ask(CHAT, CHAT_BODY)), '');
    assert.equal((await at.send('/v1/models')).status, 200);
  });

  it('accept only a token without a key, whatever is shown beside it (R-107, D-30)', async () => {
    for (const shown of EVERY_PAIR) {
      const at = site('none');
      assert.equal(
        await served(at, follow(at, tokenForB({ keyId: '' }), { headers: headersOf(shown) })),
        '',
        shown.join(),
      );
      assert.deepEqual(await rejections(at), counted());
    }
    const at = site('none');
    assert.equal(await outcomeOf(follow(at, tokenForB())), '401 unauthorized');
    assert.deepEqual(await rejections(at), counted({ key: 1 }));
  });

  it('let a refused token fall back when some credential was sent, and not without (D-30, R-119)', async () => {
    for (const shown of EVERY_PAIR) {
      const at = site('none');
      const isAnySent = shown.some((value) => value !== 'absent');
      const outcome = await served(at, follow(at, 'refused', { headers: headersOf(shown) }));
      assert.equal(outcome, isAnySent ? '' : '401', shown.join());
    }
  });

  it('give every caller one key ID, the empty one, and so one home (D-30)', async () => {
    const at = siteA({ authMode: 'none' });
    const first = claimsOf(await at.ask(CHAT, CHAT_BODY));
    const second = claimsOf(await at.ask(CHAT, CHAT_BODY, bearer('key-1')));
    assert.deepEqual([first.keyId, second.keyId], ['', '']);
    assert.equal(first.target, second.target);
    assert.equal(at.accessLines.at(-1)?.['key_id'], '');
  });

  it('a token of such a site is refused by one with keys (R-107, T-24)', async () => {
    const minted = await siteA({ authMode: 'none' }).ask(CHAT, CHAT_BODY);
    const token = String(new URL(String(minted.headers.get('location'))).searchParams.get('rt'));
    const at = site();
    assert.equal(await outcomeOf(follow(at, token)), '401 unauthorized');
    assert.deepEqual(await rejections(at), counted({ key: 1 }));
  });
});
