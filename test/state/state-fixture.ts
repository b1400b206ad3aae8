// State directories for tests, each in a place of its own that is gone afterwards.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { complete } from '../../src/lib/steps.ts';
import { type OpenedState, openState } from '../../src/state/open-state.ts';
import type { DocumentName, State, StoredDocument } from '../../src/state/state.ts';

/** Runs the test with the path of an empty directory. */
export async function withDirectory(test: (directory: string) => void | Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'state-test-'));
  try {
    await test(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function opened(directory: string): OpenedState {
  const state = openState(directory);
  if (!state.ok) assert.fail(state.fault);
  return state.value;
}

/** Opens, lets `use` look, and closes again, as a restart does. */
export function reopened<Value>(directory: string, use: (state: State) => Value): Value {
  const { state, troubles } = opened(directory);
  assert.deepEqual(troubles, []);
  try {
    return use(state);
  } finally {
    state.close();
  }
}

/** A document of short texts. */
export function documentOf(version: string, ...texts: readonly string[]): StoredDocument {
  return { version, parts: texts.map((text) => ({ name: `n-${text}`, body: Buffer.from(text) })) };
}

export function replace(state: State, name: DocumentName, document: StoredDocument): void {
  complete(state.replaceDocument(name, document));
}

/** `version: text,text`, or undefined. */
export function told(state: State, name: DocumentName): string | undefined {
  const document = state.readDocument(name);
  if (document === undefined) return undefined;
  return `${document.version}: ${Array.from(document.parts, ({ body }) => Buffer.from(body).toString()).join()}`;
}

export function agent(id: string, successes = 1) {
  const counters = { failures: 2, inputTokens: 3, outputTokens: 4, lossesByProbes: 5, lossesByRefusal: 6 };
  return { id, successes, ...counters, srttMs: 7.5, rttvarMs: undefined };
}
