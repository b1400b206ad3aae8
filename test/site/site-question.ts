// Questions for the tests of the site choice: one with every default, placements by site, and answers as one word.

import { Buffer } from 'node:buffer';
import { chooseSite, type SiteQuestion } from '../../src/site/choose-site.ts';
import { homeSet, sessionOrder } from '../../src/site/rendezvous.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { HINTS_EXPIRE_AT_MS, type Json, mapOf, siteId, VALID_MAP } from './map-document.ts';

export const [A, B, C, D] = ['site-fr-1', 'site-fr-2', 'site-de-1', 'site-us-1'] as const;

/** A millisecond before the hints expire. */
export const FRESH_MS = HINTS_EXPIRE_AT_MS - 1;

/** The fixture with `m` placed as given: by default as chat, with `scale_from_zero: true`. */
export function mapPlacing(placements: Readonly<Record<string, { readonly [name: string]: Json }>>): SiblingMap {
  const placed = Object.entries(placements).map(([site, members]) => {
    return { model: 'm', kind: 'chat', site, scale_from_zero: true, ...members };
  });
  return mapOf({ ...VALID_MAP, placements: placed });
}

/** A new request for chat with `m` at site A, any scope, hints fresh, with the fixture unless told otherwise. */
export function ask(question: Partial<SiteQuestion> = {}): SiteQuestion {
  return {
    map: mapOf(VALID_MAP),
    here: siteId(A),
    origin: undefined,
    kind: 'chat',
    model: 'm',
    scope: { kind: 'all' },
    keyId: 'key-1',
    session: new Uint8Array(),
    canHold: true,
    nowMs: FRESH_MS,
    ...question,
  };
}

/** The ID of the target, or why the request stays here. */
export function answer(question: Partial<SiteQuestion>): string {
  const choice = chooseSite(ask(question));
  return choice.kind === 'redirect' ? choice.site.id : choice.reason;
}

/** The different answers for many keys, sorted. */
export function answersOfKeys(question: Partial<SiteQuestion>, count = 100): readonly string[] {
  const map = question.map ?? mapOf(VALID_MAP);
  const answers = Array.from({ length: count }, (_, index) => answer({ ...question, map, keyId: `key-${index}` }));
  return [...new Set(answers)].sort();
}

/** A session of `key-1` whose order begins with `first`, and `second` after it. */
export function sessionWith(first: string, second: string): Uint8Array {
  const home = homeSet('key-1', 'm', [siteId(first), siteId(second)]);
  for (let index = 0; ; index++) {
    const session = Buffer.from(`conv-${index}`);
    if (sessionOrder('key-1', session, home)[0] === first) return session;
  }
}
