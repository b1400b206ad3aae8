// Documents read in one go, within limits that no test meets by chance.

import { complete } from '../../src/lib/steps.ts';
import { type JsonLimits, parseStrictJson } from '../../src/lib/strict-json.ts';
import { encodeUtf8 } from '../../src/lib/utf8.ts';

export const LIMITS: JsonLimits = { depth: 20, values: 1_000_000, members: 1_000_000, tokenLength: 1_000_000 };

export const parse = (text: string, limits: Partial<JsonLimits> = {}) => parseBytes(encodeUtf8(text), limits);

export function parseBytes(bytes: Uint8Array, limits: Partial<JsonLimits> = {}) {
  return complete(parseStrictJson(bytes, { limits: { ...LIMITS, ...limits } }));
}
