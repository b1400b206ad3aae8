// What rows of the state file say, checked: a bit of it may have turned, and SQLite's numbers are longer than ours.

import { decodeUtf8 } from '../lib/utf8.ts';
import type { AgentCounters, DocumentPart } from './state.ts';

/** A row as SQLite gives it, not checked. */
export type Row = Readonly<Record<string, unknown>>;

/** What the file holds can be none that was written: a bit of it has turned, or another program wrote it. */
export class Damage extends Error {}

/** Selects the column, or NULL where it is negative or no exact number of ours. */
export const whole = (column: string) =>
  `CASE WHEN ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} THEN ${column} END AS ${column}`;

/** The whole numbers of an agent, to be selected. */
export const AGENT_COUNTS = [
  'successes',
  'failures',
  'input_tokens',
  'output_tokens',
  'losses_by_probes',
  'losses_by_refusal',
].map(whole);

/** Throws {@link Damage}. */
export function agentOf(row: Row): AgentCounters {
  return {
    id: textIn(row, 'id'),
    successes: numberIn(row, 'successes'),
    failures: numberIn(row, 'failures'),
    inputTokens: numberIn(row, 'input_tokens'),
    outputTokens: numberIn(row, 'output_tokens'),
    lossesByProbes: numberIn(row, 'losses_by_probes'),
    lossesByRefusal: numberIn(row, 'losses_by_refusal'),
    srttMs: row['srtt_ms'] === null ? undefined : numberIn(row, 'srtt_ms'),
    rttvarMs: row['rttvar_ms'] === null ? undefined : numberIn(row, 'rttvar_ms'),
  };
}

/** Throws {@link Damage}. */
export function partOf(row: Row): DocumentPart {
  return { name: textIn(row, 'name'), body: blobIn(row, 'body') };
}

/** Text is kept as the blob of its UTF-8 (schema.ts). Throws {@link Damage}. */
export function textIn(row: Row, column: string): string {
  const text = decodeUtf8(blobIn(row, column));
  if (text === undefined) throw new Damage(`column "${column}" is no text`);
  return text;
}

function blobIn(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new Damage(`column "${column}" is no blob`);
  return value;
}

/** From 0. Throws {@link Damage}. */
export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number' || !(value >= 0) || value === Number.POSITIVE_INFINITY) {
    throw new Damage(`column "${column}" is no number from 0`);
  }
  return value;
}
