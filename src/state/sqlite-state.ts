// The state in SQLite, through `node:sqlite`, which both runtimes have. A document is replaced in one transaction over its
// steps, everything else within a call.

import { closeSync, fstatSync, fsync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Steps } from '../lib/steps.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { DailyUse } from '../quota/daily-budget.ts';
import { AGENT_COUNTS, agentOf, Damage, numberIn, partOf, type Row, textIn, whole } from './rows.ts';
import type { AgentCounters, DocumentName, DocumentPart, State, StoredDocument } from './state.ts';

/** What is written or deleted between two pauses: some 5 ms. */
const STEP_BYTES = 262_144;
const STEP_ROWS = 400;

/** Agents that are remembered, those that were written last. */
export const AGENTS_MAX = 10_000;

const DELETE_PART = 'DELETE FROM part WHERE document = ? AND generation = ? AND name = ?';

/** Descriptors. They stay open as long as the database: a process that closes one loses its locks on the file (POSIX). */
export interface StateFiles {
  readonly main: number;
  readonly log: number;
}

const sync = promisify(fsync);

export class SqliteState implements State {
  readonly #database: DatabaseSync;
  /** By SQL text, of which there is a fixed number. */
  readonly #statements = new Map<string, StatementSync>();

  readonly #files: StateFiles | undefined;
  /** Rows that were left out when it was last read, by what was read. */
  readonly #damaged = new Map<string, number>();

  /**
   * `database` has the tables of schema.ts, and is this object's alone. On a disk it has a write-ahead log, and syncs and
   * empties it only at {@link checkpoint}; `files` are those of both. Undefined: it is in memory.
   */
  constructor(database: DatabaseSync, files?: StateFiles) {
    this.#database = database;
    this.#files = files;
  }

  readDailyUse(day: number): readonly DailyUse[] {
    const rows = this.#all(`SELECT budget, ${whole('tokens')} FROM daily_use WHERE day = ?`, day);
    return this.#undamaged(`day ${day}`, rows, (row) => ({
      budget: textIn(row, 'budget'),
      day,
      tokens: numberIn(row, 'tokens'),
    }));
  }

  writeDailyUse(uses: readonly DailyUse[]): void {
    const put = 'INSERT OR REPLACE INTO daily_use (budget, day, tokens) VALUES (?, ?, ?)';
    this.#transaction(() => {
      for (const { budget, day, tokens } of uses) this.#run(put, encodeUtf8(budget), day, tokens);
    });
  }

  readAgents(): readonly AgentCounters[] {
    const rows = this.#all(`SELECT id, ${AGENT_COUNTS}, srtt_ms, rttvar_ms FROM agent`);
    return this.#undamaged('agents', rows, agentOf);
  }

  get damagedRows(): number {
    return [...this.#damaged.values()].reduce((sum, rows) => sum + rows, 0);
  }

  writeAgents(agents: readonly AgentCounters[], nowMs: number): void {
    const put = 'INSERT OR REPLACE INTO agent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
    this.#transaction(() => {
      for (const agent of agents) this.#run(put, ...columnsOf(agent, nowMs));
      this.#run(
        'DELETE FROM agent WHERE id IN (SELECT id FROM agent ORDER BY written_ms DESC LIMIT -1 OFFSET ?)',
        AGENTS_MAX,
      );
    });
  }

  readDocument(name: DocumentName): StoredDocument | undefined {
    const [document] = this.#all(`SELECT version, ${whole('generation')} FROM document WHERE name = ?`, name);
    if (document === undefined) return undefined;
    const select = 'SELECT name, body FROM part WHERE document = ? AND generation = ? ORDER BY position';
    const parts = this.#all(select, name, numberIn(document, 'generation'));
    return { version: textIn(document, 'version'), parts: parts.map(partOf) };
  }

  /** One transaction: what a full disk cut short gives its room in the log back. */
  *replaceDocument(name: DocumentName, { version, parts }: StoredDocument): Steps<void> {
    const before = this.#generationOf(name);
    // What no sweep came to.
    yield* this.#dropOthers(name, before);
    const generation = before + 1;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const slice of slicesOf(parts)) {
        for (const part of slice) this.#putPart(name, generation, part);
        yield;
      }
      this.#setDocument(name, version, generation);
      this.#database.exec('COMMIT');
    } finally {
      // Cut short; a full disk has rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }

  *sweepDocument(name: DocumentName): Steps<void> {
    yield* this.#dropOthers(name, this.#generationOf(name));
  }

  changePart(name: DocumentName, version: string, part: string, body: Uint8Array | undefined): void {
    this.#transaction(() => {
      const generation = this.#generationOf(name);
      this.#setDocument(name, version, generation);
      if (body !== undefined) this.#putPart(name, generation, { name: part, body });
      else this.#run(DELETE_PART, name, generation, encodeUtf8(part));
    });
  }

  deleteDocument(name: DocumentName): void {
    this.#transaction(() => {
      this.#run('DELETE FROM document WHERE name = ?', name);
      this.#run('DELETE FROM part WHERE document = ?', name);
    });
  }

  deleteCounters(): void {
    this.#transaction(() => {
      this.#run('DELETE FROM daily_use');
      this.#run('DELETE FROM agent');
    });
  }

  forget(day: number, agentsMs: number): void {
    this.#run('DELETE FROM daily_use WHERE day < ?', day);
    this.#run('DELETE FROM agent WHERE written_ms < ?', agentsMs);
  }

  logBytes(): number {
    return this.#files === undefined ? 0 : fstatSync(this.#files.log).size;
  }

  /**
   * The order is SQLite's own, but that it would wait in place: the log is on the disk before pages of the file change,
   * and these are before the log is emptied.
   */
  async checkpoint(): Promise<void> {
    if (this.#files === undefined || this.#database.isTransaction) return;
    await sync(this.#files.log);
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    await sync(this.#files.main);
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#database.close();
    if (this.#files === undefined) return;
    closeSync(this.#files.log);
    closeSync(this.#files.main);
  }

  /** 0 before the first replacement. */
  #generationOf(name: DocumentName): number {
    const [row] = this.#all('SELECT generation FROM document WHERE name = ?', name);
    return row === undefined ? 0 : numberIn(row, 'generation');
  }

  #setDocument(name: DocumentName, version: string, generation: number): void {
    const put = 'INSERT OR REPLACE INTO document (name, version, generation) VALUES (?, ?, ?)';
    this.#run(put, name, encodeUtf8(version), generation);
  }

  /** In its old place if there is one. */
  #putPart(document: DocumentName, generation: number, { name, body }: DocumentPart): void {
    this.#run(
      `INSERT INTO part (document, generation, name, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (document, generation, name) DO UPDATE SET body = excluded.body`,
      document,
      generation,
      encodeUtf8(name),
      body,
    );
  }

  *#dropOthers(name: DocumentName, generation: number): Steps<void> {
    const dropSome =
      'DELETE FROM part WHERE position IN (SELECT position FROM part WHERE document = ? AND generation <> ? LIMIT ?)';
    while (this.#run(dropSome, name, generation, STEP_ROWS) > 0) yield;
  }

  /** All or nothing. */
  #transaction(write: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      write();
      this.#database.exec('COMMIT');
    } catch (error) {
      // A full disk has rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** A bad count is no reason to lose the keys: its row is left out. */
  #undamaged<Kept>(what: string, rows: readonly Row[], read: (row: Row) => Kept): readonly Kept[] {
    const kept: Kept[] = [];
    for (const row of rows) {
      try {
        kept.push(read(row));
      } catch (error) {
        if (!(error instanceof Damage)) throw error;
      }
    }
    this.#damaged.set(what, rows.length - kept.length);
    return kept;
  }

  #all(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#statement(sql).all(...values);
  }

  /** How many rows it changed. */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function* slicesOf(parts: Iterable<DocumentPart>): Generator<readonly DocumentPart[], void, undefined> {
  let slice: DocumentPart[] = [];
  let bytes = 0;
  for (const part of parts) {
    slice.push(part);
    bytes += part.body.byteLength;
    if (bytes < STEP_BYTES && slice.length < STEP_ROWS) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

function columnsOf(agent: AgentCounters, nowMs: number): SQLInputValue[] {
  const { id, successes, failures, inputTokens, outputTokens, lossesByProbes, lossesByRefusal } = agent;
  const latency = [agent.srttMs ?? null, agent.rttvarMs ?? null];
  return [
    encodeUtf8(id),
    nowMs,
    successes,
    failures,
    inputTokens,
    outputTokens,
    lossesByProbes,
    lossesByRefusal,
    ...latency,
  ];
}
