// A client that asks for 200 MB and reads none of it: what it costs the router.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { FLOOD_BYTES, type Flood, startFlood } from '../support/flood.ts';

/** Bound of the issue. */
const GROWTH_MAX_MB = 32;

let flood: Flood;

before(async () => {
  flood = await startFlood();
});

after(() => flood.close());

describe('A client that does not read its stream', () => {
  it('holds the engine back and costs the router less than 32 MiB', { timeout: 20_000 }, async () => {
    const client = await flood.ask();
    let before = -1;
    await eventually('the engine is held back', async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const hasStopped = flood.sent() > 0 && flood.sent() === before;
      before = flood.sent();
      return hasStopped || undefined;
    });
    assert.ok(flood.sent() < FLOOD_BYTES / 4, `the engine got rid of ${flood.sent()} bytes`);
    const growthMb = await flood.growthMb();
    assert.ok(growthMb < GROWTH_MAX_MB, `${growthMb.toFixed(1)} MB`);
    client.destroy();
  });
});
