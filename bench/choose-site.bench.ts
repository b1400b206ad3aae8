// The home set and the whole choice of a site, against their floor: one SHA-256 of 80 bytes for each candidate, in the form
// that costs least.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { complete } from '../src/lib/steps.ts';
import { parseAllowedDomain } from '../src/site/allowed-domain.ts';
import { chooseSite } from '../src/site/choose-site.ts';
import { parseSiblingMap } from '../src/site/parse-sibling-map.ts';
import { homeSet } from '../src/site/rendezvous.ts';
import type { SiblingMap } from '../src/site/sibling-map.ts';
import { NOW_MS, okValue, siteId } from '../test/redirect/builders.ts';
import { type Figure, tell } from './figure.ts';
import { type Measured, median, medianNs, report } from './report.ts';
import type { TargetId } from './targets.ts';

const COUNTS = [3, 10, 30, 100, 300] as const;
const HERE = siteId('site-here');
const MODEL = 'llama-3-70b';
const KEY_ID = 'key-abc123';
const MESSAGE = Buffer.alloc(80, 'x');

function hashes(count: number): () => string {
  return () => {
    let last = '';
    for (let index = 0; index < count; index += 1) last = hash('sha256', MESSAGE, 'binary');
    return last;
  };
}

function idsOf(count: number) {
  return Array.from({ length: count }, (_, index) => siteId(`site-fr-${index}`));
}

/** A map in which `count` sites beside this one place the model, all warm and with hints that count. */
function mapOf(count: number): SiblingMap {
  const ids = [...idsOf(count), HERE];
  const document = {
    schema: 3,
    version: 1,
    region: 'eu',
    sites: ids.map((id) => ({ id, url: `https://${id}.example.com`, country: 'FR', eu: true })),
    placements: ids.map((site) => ({
      model: MODEL,
      kind: 'chat',
      site,
      scale_from_zero: false,
      hint: { warm: true, load: 'ok' },
    })),
    hints_expire_at: '2026-11-03T13:00:00Z',
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  const domains = [okValue(parseAllowedDomain('.example.com'))];
  return okValue(complete(parseSiblingMap(bytes, { ownSite: HERE, domains })));
}

function ranking(count: number): Measured {
  const ids = idsOf(count);
  const run = () => homeSet(KEY_ID, MODEL, ids);
  assert.equal(run().length, 2);
  return { name: `home set of ${count}`, run, floor: hashes(count), atMost: 3 };
}

function choosing(count: number): () => unknown {
  const question = {
    map: mapOf(count),
    here: HERE,
    origin: undefined,
    kind: 'chat',
    model: MODEL,
    scope: { kind: 'eu' },
    keyId: KEY_ID,
    session: Buffer.from('conversation-1'),
    canHold: false,
    nowMs: NOW_MS,
  } as const;
  const run = () => chooseSite(question);
  assert.equal(run().kind, 'redirect');
  return run;
}

const TARGET_OF: Readonly<Record<number, TargetId>> = { 10: 'choice10', 100: 'choice100' };

function choice(count: number): Measured {
  const target = TARGET_OF[count];
  const bound = target === undefined ? { atMost: 6 } : { target };
  return { name: `choice among ${count}`, run: choosing(count), floor: hashes(count), ...bound };
}

async function linearity(): Promise<Figure> {
  const [ten, hundred] = [choosing(10), choosing(100)];
  const ratios: number[] = [];
  for (let round = 0; round < 5; round += 1)
    ratios.push((await medianNs(hundred, 50)) / 10 / (await medianNs(ten, 50)));
  return { name: 'a candidate among 100 over among 10', value: median(ratios), unit: '×', target: 'choiceLinear' };
}

await report('Choice of a site', [...COUNTS.map(ranking), ...COUNTS.map(choice)]);
tell('Choice of a site, growth', [await linearity()]);
