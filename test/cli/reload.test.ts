// SIGHUP without the signal (E13). That the binary does it is tested in test/e2e.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Reloadable, Reloader, type ReloadOutcome } from '../../src/cli/reload.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { createLog } from '../../src/telemetry/log.ts';

/** A reloader whose log is its lines, without their time. */
function reloaderOf(things: readonly Reloadable[], isStopping = () => false) {
  const lines: string[] = [];
  const log = createLog(
    () => 0,
    (line) => void lines.push(line.trimEnd().slice('1970-01-01T00:00:00.000Z '.length)),
  );
  return { reloader: new Reloader(things, log, isStopping), lines };
}

/** A thing that takes as long as the test says. */
class SlowThing implements Reloadable {
  readonly name = 'slow thing';
  started = 0;
  #finish: (outcome: ReloadOutcome) => void = () => undefined;

  readonly reload = (): Promise<ReloadOutcome> => {
    this.started += 1;
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  };

  /** Ends the reload under way, and lets what follows begin. */
  async finish(): Promise<void> {
    this.#finish(ok({}));
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
}

describe('Reloader', () => {
  it('reloads each thing on its own: one that is invalid keeps no other from it', async () => {
    const done: string[] = [];
    const { reloader, lines } = reloaderOf([
      { name: 'first', reload: () => fault(['line 1 is wrong', 'line 2 is wrong']) },
      {
        name: 'second',
        reload: () => {
          throw new Error('a bug');
        },
      },
      {
        name: 'third',
        reload: async () => {
          done.push('third');
          return ok({ count: 3 });
        },
      },
    ]);
    await reloader.run();
    assert.deepEqual(done, ['third']);
    assert.deepEqual(lines, [
      'ERROR Cannot reload first, nothing changed reason="line 1 is wrong"',
      'ERROR Cannot reload first, nothing changed reason="line 2 is wrong"',
      'ERROR Failed to reload second cause="Error: a bug"',
      'INFO Reloaded third count=3',
    ]);
  });

  it('says so when there is nothing to reload', async () => {
    const { reloader, lines } = reloaderOf([]);
    await reloader.run();
    assert.deepEqual(lines, ['WARN SIGHUP: nothing to reload, no setting names a file that can be']);
  });

  it('never runs twice at a time; asked again meanwhile, however often, it starts over once', async () => {
    const thing = new SlowThing();
    const { reloader, lines } = reloaderOf([thing]);
    const runs = [reloader.run(), reloader.run(), reloader.run()];
    assert.equal(thing.started, 1);
    await thing.finish();
    assert.equal(thing.started, 2);
    await thing.finish();
    await Promise.all(runs);
    assert.equal(thing.started, 2);
    assert.equal(lines.length, 2);
  });

  it('runs again when it is asked later, also after a failure', async () => {
    let runs = 0;
    const reload = (): ReloadOutcome => {
      runs += 1;
      return fault(['wrong']);
    };
    const { reloader } = reloaderOf([{ name: 'thing', reload }]);
    await reloader.run();
    await reloader.run();
    assert.equal(runs, 2);
  });

  it('begins nothing once the router is stopping', async () => {
    let isStopping = false;
    const slow = new SlowThing();
    const { reloader, lines } = reloaderOf([slow, { name: 'next', reload: () => ok({}) }], () => isStopping);
    const run = reloader.run();
    isStopping = true;
    await slow.finish();
    await run;
    await reloader.run();
    assert.equal(slow.started, 1);
    assert.deepEqual(lines, [
      'INFO Reloaded slow thing',
      'WARN SIGHUP: not reloading, the router is stopping',
      'WARN SIGHUP: not reloading, the router is stopping',
    ]);
  });
});
