// The field table of the sibling map (redirect-requirements 1.15) as test data: member, rule, and values at both sides.

import { type Json, RawJson } from './map-document.ts';

const raw = (text: string) => new RawJson(text);

/** What one member must be, and values at both sides of it. */
export interface FieldRule {
  readonly rule: string;
  readonly source: string;
  readonly refused: readonly Json[];
  /** Values that `GET` shows as they are. */
  readonly taken: readonly Json[];
}

const NAME = {
  rule: 'not a string of 1 to 256 bytes without control characters',
  refused: [
    ...['', 1, null, true, [], {}, 'a\u0000', 'a\n', '\u007f', '\u0085', 'x'.repeat(257), `${'é'.repeat(128)}x`],
    '模'.repeat(86),
  ],
  taken: ['x', 'é'.repeat(128), 'x'.repeat(256), `${'模'.repeat(85)}x`, '__proto__', 'org/name:tag', '😀', ' '],
};

const TIME = {
  rule: 'not an RFC 3339 time',
  refused: [
    ...['x', '', 1, null, '2026-11-03', '2026-11-03t12:00:00z', '2026-11-03 12:00:00Z', '2026-02-29T00:00:00Z'],
    ...['2026-11-03T12:00:60Z', '2026-11-03T12:00:00', '2026-11-03T12:00:00,5Z', '2026-11-03T12:00:00+24:00'],
  ],
  taken: [
    '2026-11-03T12:00:00Z',
    '2026-11-03T12:00:00.1234567891234Z',
    '2028-02-29T00:00:00-00:00',
    '1999-01-01T00:00:00Z',
  ],
};

const BOOLEAN = { rule: 'not true or false', refused: [0, 1, 'true', '', null, [], {}], taken: [true, false] };

/** Every rule for one member, by the member's path; `[]` stands for any item (1.15). */
export const FIELD_RULES: Record<string, FieldRule> = {
  schema: {
    rule: 'not the integer 3',
    source: 'R-177',
    refused: ['3', '', null, true, [], {}, ...['3.0', '3e0', '-3', '30e-1', '33333333333333333333'].map(raw)],
    taken: [3],
  },
  version: {
    rule: 'not an integer from 0 to 2^64 - 1',
    source: 'R-179, D-58',
    refused: [
      ...['1', '', null, true, [], {}],
      ...['-1', '-0', '1.0', '1e3', '1E3', '18446744073709551616', '99999999999999999999', '1'.repeat(1_000)].map(raw),
    ],
    taken: [0, 7, ...['9007199254740993', '18446744073709551615'].map(raw)],
  },
  region: { ...NAME, source: 'R-180' },
  generated_at: { ...TIME, source: 'R-181, D-66' },
  sites: {
    rule: 'not an array of 1 to 1000 sites',
    source: 'R-182',
    refused: [[], {}, null, 'site-fr-1', 1],
    taken: [],
  },
  'sites[].id': {
    rule: 'not 1 to 64 letters, digits, ".", "_" or "-"',
    source: 'R-183, D-52',
    refused: ['', 'a b', 'é', 'x'.repeat(65), 1, null, true, {}],
    taken: [],
  },
  'sites[].country': {
    rule: 'not an ISO 3166-1 alpha-2 code',
    source: 'R-188, D-67',
    refused: ['fr', 'FRA', 'UK', 'XK', 'EU', 'ZZ', '', null, 1, {}],
    taken: ['AQ', 'ZW'],
  },
  'sites[].eu': { ...BOOLEAN, source: 'R-189' },
  placements: {
    rule: 'not an array of at most 100000 placements',
    source: 'R-182, D-62',
    refused: [{}, null, 'm', 0],
    taken: [[]],
  },
  'placements[].model': { ...NAME, source: 'R-190, D-71' },
  'placements[].kind': {
    rule: 'not one of "chat", "embedding", "rerank"',
    source: 'R-192',
    refused: ['Chat', 'llm', 'reranker', '', 'chat ', null, 1, ['chat']],
    taken: ['chat', 'embedding', 'rerank'],
  },
  'placements[].site': {
    rule: 'not the ID of a listed site',
    source: 'R-193',
    refused: ['site-xx-9', 'SITE-FR-1', '', 'constructor', '__proto__', null, 0],
    taken: [],
  },
  'placements[].scale_from_zero': { ...BOOLEAN, source: 'R-194' },
  'placements[].hold_budget': {
    rule: 'not a Go duration above 0 and at most 1h',
    source: 'R-195, D-65, 2.6',
    refused: [
      ...'1.5h 3600.000000001s 30m1h 1h1ns 0 0s -0s +0 -1s 0.1ns 5 1d 1w 1H 1e3s .s 1. 1_000s 0x10s 1h-30m'.split(' '),
      ...['--1s', '1hm', 'h', '1.2.3s', '\u0661s', '', '5 s', ' 5s', '5s ', '1m\n', '2562047h47m16.854775808s'],
      ...[null, 240, true, {}],
    ],
    taken: '240s 1h 60m 1h0m0s 3600.0000000001s .5s 5.s +5s 1s1s 1ms 1us 1µs 1μs 1ns 00001s'.split(' '),
  },
  'placements[].hint': { rule: 'not an object', source: 'R-197', refused: [null, [], true, 'warm', 1], taken: [] },
  'placements[].hint.warm': { ...BOOLEAN, source: 'R-197' },
  'placements[].hint.load': {
    rule: 'not one of "ok", "busy", "full"',
    source: 'R-197',
    refused: ['FULL', 'Ok', '', null, 1, true, 'idle'],
    taken: ['ok', 'busy', 'full'],
  },
  hints_expire_at: { ...TIME, source: 'R-198, D-66' },
};

/** The members that must be there. */
export const REQUIRED = [
  ...'schema version region sites placements sites[].id sites[].url sites[].country sites[].eu'.split(' '),
  ...'placements[].model placements[].kind placements[].site placements[].scale_from_zero'.split(' '),
];

/** The path of one item. */
export const nth = (path: string, index: number) => path.replace('[]', `[${index}]`);
/** A value for the name of a test. */
export const shown = (value: Json) => (value instanceof RawJson ? value.text : JSON.stringify(value)).slice(0, 40);
