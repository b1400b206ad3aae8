// Opens the state file so that nothing in it can stop the router: what cannot be read is set aside, and what cannot be
// written is held in memory. Only a directory that the operator must mend refuses the start.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fault, ok, type Result } from '../lib/result.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { SqliteState } from './sqlite-state.ts';
import { DOCUMENT_NAMES } from './state.ts';

const FILE = 'state.sqlite';
/** Where an unreadable file goes; the one before is overwritten, so that a crash loop fills no disk. */
const SET_ASIDE = 'state.sqlite.set-aside';
/** SQLite's files beside the main one. */
const COMPANIONS = ['', '-wal', '-shm', '-journal'];

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS_WRITE = 0o002;

export interface OpenedState {
  readonly state: SqliteState;
  /** What the operator should know, one sentence each: a file that was set aside, or that nothing is kept. */
  readonly troubles: readonly string[];
}

/**
 * Opens or makes `state.sqlite` in `directory`, which is made if only its last part is missing. The fault is a sentence
 * for the operator: it is no directory, others may write to it, or a running router has it.
 */
export function openState(directory: string, migrations: readonly string[] = MIGRATIONS): Result<OpenedState, string> {
  const wrong = prepareDirectory(directory);
  if (wrong !== undefined) return fault(`Cannot use state directory "${directory}": ${wrong}`);
  const path = join(directory, FILE);
  const opened = attempt(() => openFile(path, migrations));
  if (opened.ok) return ok({ state: opened.value, troubles: [] });
  if (isLocked(opened.fault)) return fault(`Cannot use state directory "${directory}": a running router has it`);
  return ok(openAnew(path, opened.fault, migrations));
}

/** The file once more without what was in it, or else memory. */
function openAnew(path: string, why: string, migrations: readonly string[]): OpenedState {
  const trouble = `Cannot read state file "${path}": ${why}`;
  const anew = attempt(() => {
    setAside(path);
    return openFile(path, migrations);
  });
  if (anew.ok) return { state: anew.value, troubles: [`${trouble}; it was set aside as "${SET_ASIDE}"`] };
  const state = new SqliteState(migrated(new DatabaseSync(':memory:'), migrations));
  return { state, troubles: [trouble, `Cannot make a new one: ${anew.fault}; nothing will outlive this router`] };
}

/** Why the directory cannot hold a state; undefined when it can. A full or failing disk is no reason not to serve. */
function prepareDirectory(directory: string): string | undefined {
  const made = attempt(() => mkdirSync(directory, { mode: DIRECTORY_MODE }));
  const found = attempt(() => statSync(directory));
  if (!found.ok) return made.ok ? found.fault : made.fault;
  if (!found.value.isDirectory()) return 'it is not a directory';
  if ((found.value.mode & OTHERS_WRITE) !== 0) return 'everyone may write to it: take that away with chmod o-w';
  const access = attempt(() => accessSync(directory, constants.W_OK | constants.X_OK));
  return access.ok || !isForbidden(access.fault) ? undefined : access.fault;
}

/** Throws when the file cannot be read whole, is not ours, or is newer than this router. */
function openFile(path: string, migrations: readonly string[]): SqliteState {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new Error('it is not a regular file');
  // SQLite would make it by the umask; its companions take the mode of the main file.
  closeSync(openSync(path, 'a', FILE_MODE));
  chmodSync(path, FILE_MODE);
  const database = new DatabaseSync(path);
  let state: SqliteState | undefined;
  try {
    // Exclusive: a second router on the same directory must not take turns with this one.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (check !== 'ok') throw new Error(String(check));
    migrated(database, migrations);
    // What a crash left; nobody is held up yet. From here on the state says when to wait for the disk.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF');
    state = new SqliteState(database, { main: openSync(path, 'r'), log: openSync(`${path}-wal`, 'r') });
    readOnce(state);
    return state;
  } catch (error) {
    (state ?? database).close();
    throw error;
  }
}

/** Throws now, rather than when the router restores what it wants. */
function readOnce(state: SqliteState): void {
  state.readDailyUse(0);
  state.readAgents();
  for (const name of DOCUMENT_NAMES) state.readDocument(name);
}

function migrated(database: DatabaseSync, migrations: readonly string[]): DatabaseSync {
  const version = numberOf(database, 'user_version');
  const application = numberOf(database, 'application_id');
  const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (application !== APPLICATION_ID && !isEmpty) throw new Error('it belongs to another program');
  if (version > migrations.length) throw new Error(`its version ${version} is newer than ${migrations.length}`);
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    database.exec(
      `BEGIN IMMEDIATE; ${sql}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${index + 1}; COMMIT`,
    );
  }
  return database;
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}

function setAside(path: string): void {
  const aside = path.replace(FILE, SET_ASIDE);
  for (const companion of COMPANIONS) {
    rmSync(aside + companion, { force: true, recursive: true });
    if (lstatSync(path + companion, { throwIfNoEntry: false }) !== undefined) {
      renameSync(path + companion, aside + companion);
    }
  }
}

function attempt<Value>(run: () => Value): Result<Value, string> {
  try {
    return ok(run());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fault(message.replaceAll('\n', ' '));
  }
}

/** By the text: of SQLite's own code Deno tells nothing while a file is opened. */
function isLocked(message: string): boolean {
  return message.includes('database is locked');
}

function isForbidden(message: string): boolean {
  return message.includes('EACCES') || message.includes('EPERM');
}
