// Which sites a caller's requests for a model belong to: rendezvous hashing, which every router and every language
// computes alike from nothing but the key ID, the model and the site IDs (redirect-requirements 5.1, 5.2).

import { createHash } from 'node:crypto';
import { lengthPrefixed } from '../lib/lp-bytes.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { SiteId } from './site.ts';

const HOME_PREFIX = encodeUtf8('hivenet-router/home/v1\0');
const SESSION_PREFIX = encodeUtf8('hivenet-router/session/v1\0');

/** A site and its SHA-256 digest in lower-case hex, which sorts as the bytes do. */
export interface RankedSite {
  readonly site: SiteId;
  readonly digest: string;
}

/**
 * The home set: the (at most) two sites that rank highest for this key and model, best first. Independent of the
 * order of `sites`. About 1 µs a site.
 */
export function homeSet(keyId: string, model: string, sites: readonly SiteId[]): readonly SiteId[] {
  const question = [HOME_PREFIX, prefixedText(keyId), prefixedText(model)];
  let first: RankedSite | undefined;
  let second: RankedSite | undefined;
  for (const site of sites) {
    const ranked = { site, digest: sha256Hex(...question, prefixedText(site)) };
    if (first === undefined || outranks(ranked, first)) [first, second] = [ranked, first];
    else if (second === undefined || outranks(ranked, second)) second = ranked;
  }
  return [first, second].flatMap((ranked) => ranked?.site ?? []);
}

/** The larger digest ranks higher; of two equal ones, the site whose ID bytes are smaller (site IDs are ASCII). */
export function outranks(one: RankedSite, other: RankedSite): boolean {
  return one.digest === other.digest ? one.site < other.site : one.digest > other.digest;
}

/**
 * The home set in the order of this session: as it ranks, or turned round by one bit of a hash over key, session and first
 * home site. With the first home site in it, sessions of the first stay when the second leaves (D-11).
 * `session` is the raw header value, empty without one (D-12).
 */
export function sessionOrder(keyId: string, session: Uint8Array, home: readonly SiteId[]): readonly SiteId[] {
  const [first, second] = home;
  if (first === undefined || second === undefined) return home;
  const digest = sha256Hex(SESSION_PREFIX, prefixedText(keyId), lengthPrefixed(session), prefixedText(first));
  return digest < '8' ? [first, second] : [second, first]; // the top bit, read off the first hex digit
}

function prefixedText(text: string): Uint8Array {
  return lengthPrefixed(encodeUtf8(text));
}

function sha256Hex(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
