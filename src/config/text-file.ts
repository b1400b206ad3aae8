// The port through which settings read files and directories, on the real file system; node:fs is the same in both runtimes.

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { fault, ok, type Result } from '../lib/result.ts';
import { decodeUtf8 } from '../lib/utf8.ts';
import type { SettingsFile } from './settings-reader.ts';

/** Certificates with their chain, and secrets, are a few KiB. */
const FILE_MAX_BYTES = 1_048_576;

const STATES: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a directory'],
]);

/**
 * A whole file of UTF-8 text, at most 1 MiB, a byte order mark kept. The fault tells the state, not the path. For the
 * start, which may wait for what a pipe brings.
 */
export function readTextFile(path: string): Result<SettingsFile, string> {
  return readOpened(path, constants.O_RDONLY, readOpenFile);
}

/** The same for a router that serves: nothing but a regular file, because a pipe without a writer would hold it up. */
export function rereadTextFile(path: string): Result<SettingsFile, string> {
  return readOpened(path, constants.O_RDONLY | constants.O_NONBLOCK, (descriptor) =>
    fstatSync(descriptor).isFile() ? readOpenFile(descriptor) : fault('not a regular file'),
  );
}

type ReadOpen = (descriptor: number) => Result<SettingsFile, string>;

function readOpened(path: string, flags: number, read: ReadOpen): Result<SettingsFile, string> {
  try {
    const descriptor = openSync(path, flags);
    try {
      return read(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return fault(stateOf(error));
  }
}

/** The names in a directory, sorted. The fault tells the state, not the path. */
export function listDirectory(path: string): Result<readonly string[], string> {
  try {
    return ok(readdirSync(path).toSorted());
  } catch (error) {
    return fault(codeOf(error) === 'ENOTDIR' ? 'it is no directory' : stateOf(error));
  }
}

function stateOf(error: unknown): string {
  const code = codeOf(error);
  return STATES.get(code) ?? code;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function readOpenFile(descriptor: number): Result<SettingsFile, string> {
  const bytes = readUpTo(descriptor, FILE_MAX_BYTES + 1);
  if (bytes.length > FILE_MAX_BYTES) return fault('more than 1 MiB');
  const text = decodeUtf8(bytes);
  return text === undefined ? fault('not UTF-8 text') : ok({ text, mode: fstatSync(descriptor).mode & 0o777 });
}

/** A pipe gives its bytes in pieces, and its end alone says that there are no more. */
function readUpTo(descriptor: number, most: number): Uint8Array {
  const bytes = new Uint8Array(most);
  let length = 0;
  while (length < most) {
    const count = readSync(descriptor, bytes, length, most - length, null);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
