// Opens the state file so that nothing in it can stop the router: a damaged file is set aside, and a disk that takes
// nothing leaves it where it is. Only a directory that the operator must mend refuses the start.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fault, ok, type Result } from '../lib/result.ts';
import { Damage } from './rows.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { SqliteState } from './sqlite-state.ts';
import { DOCUMENT_NAMES } from './state.ts';

const FILE = 'state.sqlite';
/** Where a damaged file goes, with a number from the second on. */
const SET_ASIDE = 'state.sqlite.set-aside';
/** None is overwritten: it may be the last that has the keys. So many, or one bad start after another fills the disk. */
export const SET_ASIDE_MAX = 4;
/** SQLite's files beside the main one. */
const COMPANIONS = ['', '-wal', '-shm', '-journal'];

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS_WRITE = 0o002;

/** What SQLite says of a file that is none of ours or is broken, whatever room and rights there are. */
const DAMAGE = /malformed|not a database|unsupported file format|no such (table|column)|already exists/;

export interface OpenedState {
  readonly state: SqliteState;
  /** Otherwise it is in memory, and what is in the directory was left alone. */
  readonly isKept: boolean;
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
  if (opened.ok) return ok({ state: opened.value, isKept: true, troubles: [] });
  const { reason, isDamage } = opened.fault;
  if (isLocked(reason)) return fault(`Cannot use state directory "${directory}": a running router has it`);
  const trouble = `Cannot read state file "${path}": ${reason}`;
  return ok(isDamage ? openAnew(path, trouble, migrations) : inMemory([trouble], migrations));
}

/** An empty file in place of a damaged one. */
function openAnew(path: string, trouble: string, migrations: readonly string[]): OpenedState {
  const moved = attempt(() => setAside(path));
  if (!moved.ok) return inMemory([trouble, `Cannot set it aside: ${moved.fault.reason}`], migrations);
  const told = `${trouble}; it was set aside as "${moved.value}"`;
  const anew = attempt(() => openFile(path, migrations));
  if (anew.ok) return { state: anew.value, isKept: true, troubles: [told] };
  return inMemory([told, `Cannot make a new one: ${anew.fault.reason}`], migrations);
}

function inMemory(troubles: readonly string[], migrations: readonly string[]): OpenedState {
  const state = new SqliteState(migrated(new DatabaseSync(':memory:'), migrations));
  return { state, isKept: false, troubles: [...troubles, 'Nothing will outlive this router'] };
}

/** Why the directory cannot hold a state; undefined when it can. A full or failing disk is no reason not to serve. */
function prepareDirectory(directory: string): string | undefined {
  const made = attempt(() => mkdirSync(directory, { mode: DIRECTORY_MODE }));
  const found = attempt(() => statSync(directory));
  if (!found.ok) return made.ok ? found.fault.reason : made.fault.reason;
  if (!found.value.isDirectory()) return 'it is not a directory';
  if ((found.value.mode & OTHERS_WRITE) !== 0) return 'everyone may write to it: take that away with chmod o-w';
  const access = attempt(() => accessSync(directory, constants.W_OK | constants.X_OK));
  return access.ok || !isForbidden(access.fault.reason) ? undefined : access.fault.reason;
}

/** Throws when the file cannot be read whole, is not ours, or is newer than this router. */
function openFile(path: string, migrations: readonly string[]): SqliteState {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new Damage('it is not a regular file');
  // SQLite would make it by the umask; its companions take the mode of the main file.
  closeSync(openSync(path, 'a', FILE_MODE));
  chmodSync(path, FILE_MODE);
  const database = new DatabaseSync(path);
  let state: SqliteState | undefined;
  try {
    // Exclusive: a second router on the same directory must not take turns with this one.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (check !== 'ok') throw new Damage(String(check));
    migrated(database, migrations);
    // What a crash left; nobody is held up yet. A disk without room for it may have some later.
    attempt(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    // From here on the state says when to wait for the disk.
    database.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF');
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
  if (application !== APPLICATION_ID && !isEmpty) throw new Damage('it belongs to another program');
  if (version > migrations.length) throw new Damage(`its version ${version} is newer than ${migrations.length}`);
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

/** Returns where it is now, with what SQLite had beside it. */
function setAside(path: string): string {
  const isTaken = (place: string) => COMPANIONS.some((companion) => exists(place + companion));
  const places = Array.from({ length: SET_ASIDE_MAX }, (_, index) => SET_ASIDE + (index === 0 ? '' : `-${index + 1}`));
  const aside = places.map((name) => path.replace(FILE, name)).find((place) => !isTaken(place));
  if (aside === undefined) throw new Error(`there are ${SET_ASIDE_MAX} such files: take them away`);
  for (const companion of COMPANIONS) if (exists(path + companion)) renameSync(path + companion, aside + companion);
  return aside;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

interface Trouble {
  readonly reason: string;
  /** What is in the file is the cause, rather than the disk. */
  readonly isDamage: boolean;
}

function attempt<Value>(run: () => Value): Result<Value, Trouble> {
  try {
    return ok(run());
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
    return fault({ reason, isDamage: error instanceof Damage || DAMAGE.test(reason) });
  }
}

/** By the text: of SQLite's own code Deno tells nothing while a file is opened. */
function isLocked(message: string): boolean {
  return message.includes('database is locked');
}

function isForbidden(message: string): boolean {
  return message.includes('EACCES') || message.includes('EPERM');
}
