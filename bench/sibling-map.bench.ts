// A pushed map, read, checked and indexed, and strict JSON by itself, against their floor: decoding and `JSON.parse`.

import assert from 'node:assert/strict';
import { complete } from '../src/lib/steps.ts';
import { parseStrictJson } from '../src/lib/strict-json.ts';
import { parseAllowedDomain } from '../src/site/allowed-domain.ts';
import { parseSiblingMap } from '../src/site/parse-sibling-map.ts';
import { okValue, siteId } from '../test/redirect/builders.ts';
import { BIG_MAP_SITE, bigMapBytes } from '../test/support/big-map.ts';
import { type Measured, report } from './report.ts';

const DOCUMENT_MAX = 20_000_000;
const LIMITS = { depth: 10, values: DOCUMENT_MAX, members: 1_000, tokenLength: 16_384 };
const SIZES = [100, 2_000, 20_000] as const;

function parse(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}

function mapping(placements: number): Measured {
  const bytes = bigMapBytes(1, 'a', placements);
  const settings = { ownSite: siteId(BIG_MAP_SITE), domains: [okValue(parseAllowedDomain('.example.com'))] };
  const run = () => complete(parseSiblingMap(bytes, settings));
  assert.equal(okValue(run()).allPlacements.length, placements);
  const name = `map of 1,000 sites, ${placements.toLocaleString('en')} placements`;
  return { name, run, floor: () => parse(bytes), atMost: 80 };
}

function strict(placements: number): Measured {
  const bytes = bigMapBytes(1, 'a', placements);
  const run = () => complete(parseStrictJson(bytes, { limits: LIMITS }));
  assert.equal(run().ok, true);
  const name = `strict JSON, ${(bytes.length / 1024).toFixed(0)} KiB`;
  return { name, run, floor: () => parse(bytes), atMost: 80 };
}

await report('Sibling map and strict JSON', [...SIZES.map(mapping), ...SIZES.map(strict)]);
