// What outlives a restart (`--state-dir`), as the rest of the router sees it: small synchronous pieces, and steps where
// a piece would be long. When things are written is the writer's affair.

import type { Steps } from '../lib/steps.ts';
import type { DailyUse } from '../quota/daily-budget.ts';

/** What a control service pushes, as it was last accepted. */
export const DOCUMENT_NAMES = ['keys', 'map'] as const;

export type DocumentName = (typeof DOCUMENT_NAMES)[number];

/** A document in named parts, in their order. */
export interface StoredDocument {
  readonly version: string;
  readonly parts: Iterable<DocumentPart>;
}

export interface DocumentPart {
  /** Unique in its document. */
  readonly name: string;
  readonly body: Uint8Array;
}

/** An agent's lifetime counters. */
export interface AgentCounters {
  readonly id: string;
  readonly successes: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Times it turned unhealthy by its probes, and by a refused connection. */
  readonly lossesByProbes: number;
  readonly lossesByRefusal: number;
  readonly srttMs: number | undefined;
  readonly rttvarMs: number | undefined;
}

/** Every method that writes throws an Error when it cannot, a full disk for example, and has then written nothing. */
export interface State {
  /** Without damaged rows. */
  readDailyUse(day: number): readonly DailyUse[];
  /** One transaction; a budget's figure of the day is replaced. */
  writeDailyUse(uses: readonly DailyUse[]): void;
  /** Without damaged rows. */
  readAgents(): readonly AgentCounters[];
  /** Rows of use and agents that were left out of what was read: no text, or no number from 0 to 2^53-1. */
  readonly damagedRows: number;
  /** One transaction. `nowMs`: Unix time, by which agents that are never seen again are forgotten. */
  writeAgents(agents: readonly AgentCounters[], nowMs: number): void;
  /** Of the last replacement and what was changed since; undefined: none was ever saved. */
  readDocument(name: DocumentName): StoredDocument | undefined;
  /**
   * Saves a whole document. Until its last step the one before stays what is read, also by a later start. Nothing else
   * may be written meanwhile.
   */
  replaceDocument(name: DocumentName, document: StoredDocument): Steps<void>;
  /** Frees the room of what was replaced; the next replacement would do it, too. */
  sweepDocument(name: DocumentName): Steps<void>;
  /** Adds, replaces or, with an undefined body, takes out one part, and sets the version. */
  changePart(name: DocumentName, version: string, part: string, body: Uint8Array | undefined): void;
  deleteDocument(name: DocumentName): void;
  deleteCounters(): void;
  /** Drops days before `day`, and agents that were last written before `agentsMs`. */
  forget(day: number, agentsMs: number): void;
  /** Bytes that were written since the last checkpoint, and the room that they take. */
  logBytes(): number;
  /**
   * Brings what was written to the disk, against a loss of power, and empties the log. It waits for the disk without
   * holding anything up; nothing may be written meanwhile.
   */
  checkpoint(): Promise<void>;
  close(): void;
}
