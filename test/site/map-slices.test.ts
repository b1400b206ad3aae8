// How much of a push is done from one pause to the next, counted in what the platform is asked for and not in time: the
// aim of 50 ms then holds on any machine, and a part of the work that lost its pauses shows on every run.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
import { allowedDomain, siteId } from './map-document.ts';

/** Far more than one step may handle; a map at its bounds has five times as many. */
const PLACEMENTS = 20_000;

/** What is done between two pauses. */
interface Work {
  /** Bytes that are decoded or looked at. */
  decoded: number;
  /** Entries put into tables: members, keys, index. */
  entries: number;
  /** Objects frozen: the sites and placements in the router's own shape. */
  frozen: number;
  /** Keys that were compared for uniqueness. */
  compared: number;
  /** Bytes hashed. */
  hashed: number;
}

const HASH: object = Object.getPrototypeOf(createHash('sha256'));

type Spied = Record<string, (this: unknown, ...args: never[]) => unknown>;

/** Tells `count` the first argument of every call of a method. Returns what ends it. */
function spy(owner: object, name: string, count: (argument: unknown) => void): () => void {
  const methods = owner as Spied;
  const original = methods[name];
  assert.ok(original !== undefined, name);
  methods[name] = function (...args) {
    count(args[0]);
    return original.apply(this, args);
  };
  return () => {
    methods[name] = original;
  };
}

function sizeOf(argument: unknown): number {
  if (typeof argument === 'string') return argument.length;
  return argument instanceof Uint8Array ? argument.byteLength : 0;
}

/** The work of each step of a push that is accepted. */
function workOfSteps(bytes: Uint8Array): readonly Work[] {
  const nothing = { decoded: 0, entries: 0, frozen: 0, compared: 0, hashed: 0 };
  const router = { ownSite: siteId(BIG_MAP_SITE), domains: [allowedDomain('.example.com')] };
  const steps = parseSiblingMap(bytes, router);
  const done: Work[] = [];
  let now: Work = { ...nothing };
  const spies = [
    spy(TextDecoder.prototype, 'decode', (argument) => (now.decoded += sizeOf(argument))),
    spy(Map.prototype, 'set', () => (now.entries += 1)),
    spy(Set.prototype, 'add', () => (now.compared += 1)),
    spy(Object, 'freeze', () => (now.frozen += 1)),
    spy(HASH, 'update', (argument) => (now.hashed += sizeOf(argument))),
  ];
  try {
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      done.push(now);
      now = { ...nothing };
    }
    assert.ok(step.value.ok, step.value.ok ? '' : step.value.fault);
    return [...done, now];
  } finally {
    for (const end of spies) end();
  }
}

describe('parseSiblingMap(), from one pause to the next', () => {
  let steps: readonly Work[];

  before(() => {
    steps = workOfSteps(bigMapBytes(1, 'a', PLACEMENTS));
  });

  /** Above what 1,000 sites need, which are read in one go, and far below what 20,000 placements would. */
  const MOST: Work = { decoded: 262_144, entries: 3_000, frozen: 4_000, compared: 3_000, hashed: 262_144 };
  for (const [what, most] of Object.entries(MOST)) {
    it(`${what}: at most ${most} (R-163)`, () => {
      const amounts = steps.map((work) => work[what as keyof Work]);
      const all = amounts.reduce((sum, amount) => sum + amount, 0);
      // Else nothing was counted, and the test proves nothing.
      assert.ok(all >= PLACEMENTS, `${all} in all`);
      assert.ok(Math.max(...amounts) <= most, `${Math.max(...amounts)} in one step`);
    });
  }

  it('has every placement in its own shape before it compares them, so that no tree of them all grows', () => {
    const firstCompared = steps.findIndex((work, index) => work.compared > 0 && index > steps.length / 2);
    const lastDecoded = steps.findLastIndex((work) => work.decoded > 0);
    assert.ok(firstCompared >= lastDecoded, 'they are compared once the document is read');
    const shaped = steps.slice(0, lastDecoded + 1).reduce((sum, { frozen }) => sum + frozen, 0);
    assert.ok(shaped >= PLACEMENTS * 0.9, `${shaped} shaped while the document was read`);
  });
});
