// A state writer on a real file, with a disk that a test can fill, and time that it passes.

import { complete } from '../../src/lib/steps.ts';
import type { DocumentName, State, StoredDocument } from '../../src/state/state.ts';
import { FLUSH_MS, StateWriter } from '../../src/state/state-writer.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { opened, withDirectory } from './state-fixture.ts';

export const DAY_MS = 86_400_000;
export const TODAY = 20_000;

interface Disk {
  isFull: boolean;
  /** Has room for all but this document. */
  isFullFor?: DocumentName;
  writes: number;
  /** In place of the file's own. */
  logBytes?: number;
  checkpoint?: () => Promise<void>;
  /** What happens while something is being written. */
  meanwhile?: () => void;
}

interface Held {
  keys?: StoredDocument;
  map?: StoredDocument;
}

/** A writer on a real file, whose disk is full while `isFull`. */
export function withWriter(test: (at: ReturnType<typeof site>) => Promise<void>): Promise<void> {
  return withDirectory(async (directory) => {
    const { state } = opened(directory);
    const at = site(state);
    await test(at);
    if (!at.isClosed()) await at.writer.close();
  });
}

function site(state: State) {
  const timers = new FakeTimers();
  const disk: Disk = { isFull: false, writes: 0 };
  const held: Held = {};
  const troubles: string[] = [];
  let isClosed = false;
  const guarded = guard(state, disk, () => {
    isClosed = true;
  });
  const writer = new StateWriter({
    state: guarded,
    after: (delayMs, run) => timers.after(delayMs, run),
    pause: () => Promise.resolve(),
    nowMs: () => TODAY * DAY_MS + timers.monotonicMs(),
    documents: { keys: () => held.keys, map: () => held.map },
    onFailure: (reason, isNews) => troubles.push(`${isNews ? 'news' : 'again'}: ${reason}`),
    onRecovery: () => troubles.push('recovered'),
  });
  const tokensOf = (budget: string): number | undefined =>
    state.readDailyUse(TODAY).find((use) => use.budget === budget)?.tokens;
  /** Past the next flush, and through it. */
  const pass = async (): Promise<void> => {
    timers.advance(FLUSH_MS);
    await writer.flush();
  };
  return { state, writer, timers, disk, held, troubles, tokensOf, pass, isClosed: () => isClosed };
}

function guard(state: State, disk: Disk, onClose: () => void): State {
  const write = (run: () => void): void => {
    disk.meanwhile?.();
    if (disk.isFull) throw new Error('database or disk is full');
    disk.writes += 1;
    run();
  };
  return {
    readDailyUse: (day) => state.readDailyUse(day),
    readAgents: () => state.readAgents(),
    damagedRows: 0,
    readDocument: (name) => state.readDocument(name),
    writeDailyUse: (uses) => write(() => state.writeDailyUse(uses)),
    writeAgents: (agents, nowMs) => write(() => state.writeAgents(agents, nowMs)),
    replaceDocument: function* (name: DocumentName, document) {
      if (disk.isFullFor === name) throw new Error('database or disk is full');
      write(() => complete(state.replaceDocument(name, document)));
      yield;
    },
    changePart: (...change) => write(() => state.changePart(...change)),
    deleteDocument: (name) => write(() => state.deleteDocument(name)),
    deleteCounters: () => write(() => state.deleteCounters()),
    forget: (day, agentsMs) => write(() => state.forget(day, agentsMs)),
    sweepDocument: function* (name) {
      write(() => complete(state.sweepDocument(name)));
    },
    logBytes: () => disk.logBytes ?? state.logBytes(),
    checkpoint: () => disk.checkpoint?.() ?? state.checkpoint(),
    close: () => {
      onClose();
      state.close();
    },
  };
}

export function use(budget: string, tokens: number, day = TODAY) {
  return { budget, day, tokens };
}
