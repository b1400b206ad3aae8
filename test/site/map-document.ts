// Sibling-map documents for the tests of this room: a valid one, edits by JSON path, and what the router makes of them.

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { type AllowedDomain, parseAllowedDomain } from '../../src/site/allowed-domain.ts';
import { formatSiblingMap } from '../../src/site/format-sibling-map.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { parseSiteId, type SiteId } from '../../src/site/site.ts';

/** JSON that JavaScript cannot hold, such as `3.0`, verbatim. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Json =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

export function siteId(text: string): SiteId {
  const id = parseSiteId(text);
  assert.ok(id !== undefined, text);
  return id;
}

export function allowedDomain(text: string): AllowedDomain {
  const domain = parseAllowedDomain(text);
  assert.ok(domain.ok, text);
  return domain.value;
}

/** The router under test: site A of the fixture. */
export const ROUTER = { ownSite: siteId('site-fr-1'), domains: [allowedDomain('.example.com')] };

export const HINTS_EXPIRE_AT_MS = Date.UTC(2026, 10, 3, 12, 1);

function site(id: string, country: string, eu: boolean): Json {
  return { id, url: `https://${id}.example.com`, country, eu };
}

function placement(model: string, kind: string, siteName: string): Json {
  return { model, kind, site: siteName, scale_from_zero: true };
}

/** The fixture of redirect-requirements, section 1: sites A to D; `m` at B, C, D; `emb` and `rr` at B. */
export const VALID_MAP = {
  schema: 3,
  version: 1762171200,
  region: 'eu',
  generated_at: '2026-11-03T12:00:00Z',
  sites: [
    site('site-fr-1', 'FR', true),
    site('site-fr-2', 'FR', true),
    site('site-de-1', 'DE', true),
    site('site-us-1', 'US', false),
  ],
  placements: [
    placement('m', 'chat', 'site-fr-2'),
    placement('m', 'chat', 'site-de-1'),
    placement('m', 'chat', 'site-us-1'),
    placement('emb', 'embedding', 'site-fr-2'),
    placement('rr', 'rerank', 'site-fr-2'),
  ],
  hints_expire_at: '2026-11-03T12:01:00Z',
} satisfies Json;

/** The document with the value at a path such as `sites[1].country` replaced, added, or removed (undefined). */
export function edited(document: Json, path: string, value: Json | undefined): Json {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return setAt(document, steps, value) ?? null;
}

function setAt(node: Json | undefined, [step, ...rest]: readonly string[], value: Json | undefined): Json | undefined {
  if (step === undefined) return value;
  if (Array.isArray(node)) {
    const items: readonly Json[] = node;
    return items.map((item, index) => (index === Number(step) ? (setAt(item, rest, value) ?? null) : item));
  }
  const members = new Map<string, Json | undefined>(isObject(node) ? Object.entries(node) : []);
  const member = setAt(members.get(step), rest, value);
  if (member === undefined) members.delete(step);
  else members.set(step, member);
  return Object.fromEntries(members);
}

function isObject(node: Json | undefined): node is { readonly [name: string]: Json | undefined } {
  return typeof node === 'object' && node !== null && !Array.isArray(node) && !(node instanceof RawJson);
}

/** The document as JSON text. `RawJson` travels through `JSON.stringify` between control characters. */
export function textOf(document: Json): string {
  const marked = JSON.stringify(document, (_name, value) =>
    value instanceof RawJson ? `\u0001${value.text}\u0001` : value,
  );
  return marked.replaceAll(/"\\u0001(.*?)\\u0001"/g, '$1');
}

export function bytesOf(document: Json): Uint8Array {
  return new TextEncoder().encode(textOf(document));
}

/** The fault of the document, or `accepted`. */
export function faultOf(document: Json, router = ROUTER): string {
  const map = complete(parseSiblingMap(bytesOf(document), router));
  return map.ok ? 'accepted' : map.fault;
}

export function mapOf(document: Json, router = ROUTER): SiblingMap {
  const map = complete(parseSiblingMap(bytesOf(document), router));
  assert.ok(map.ok, map.ok ? '' : map.fault);
  return map.value;
}

/** The map as `GET` shows it. */
export function mapText(map: SiblingMap): string {
  return [...formatSiblingMap(map)].join('');
}

const hints = fc.record({ warm: fc.boolean(), load: fc.constantFrom('ok', 'busy', 'full') }, { requiredKeys: [] });

/** Valid maps that list the router under test, with one to eight sites and the models `m` and `n` here and there. */
export const validMaps: fc.Arbitrary<Json> = fc
  .record({
    version: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    sites: fc.array(fc.record({ country: fc.constantFrom('FR', 'DE', 'US'), eu: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    }),
    placements: fc.array(
      fc.record({
        kind: fc.constantFrom('chat', 'chat', 'chat', 'embedding', 'rerank'),
        at: fc.nat({ max: 7 }),
        model: fc.constantFrom('m', 'm', 'n'),
        scale_from_zero: fc.boolean(),
        hint: fc.option(hints, { nil: undefined }),
      }),
      { minLength: 1, maxLength: 16 },
    ),
  })
  .map(({ version, sites, placements }) => {
    const placed = new Map<string, Json>();
    for (const { at, hint, ...members } of placements) {
      const where = siteName(at % sites.length);
      const withHint = hint === undefined ? {} : { hint: { ...hint } };
      placed.set(`${members.model} ${where}`, { ...members, site: where, ...withHint });
    }
    return {
      ...VALID_MAP,
      version: new RawJson(String(version)),
      sites: sites.map(({ country, eu }, index) => site(siteName(index), country, eu)),
      placements: [...placed.values()],
    };
  });

/** The own site first, then made-up ones. */
function siteName(index: number): string {
  return index === 0 ? ROUTER.ownSite : `site-${index}`;
}
