// What SIGHUP does (E13): each thing that can be renewed while the router serves is read anew and, when all of it is
// valid, put in place; whatever is wrong with it is logged and changes nothing.

import type { Result } from '../lib/result.ts';
import { describeError, type Log } from '../telemetry/log.ts';

/** One thing that can be renewed. It is validated wholly before it replaces what is in force. */
export interface Reloadable {
  /** For the log: `model aliases`. */
  readonly name: string;
  /** Log fields of what is in force now, such as `{ count: 2 }`; or every reason, at least one, why nothing changed. */
  readonly reload: () => ReloadOutcome | Promise<ReloadOutcome>;
}

export type ReloadOutcome = Result<Readonly<Record<string, string | number>>, readonly string[]>;

export class Reloader {
  readonly #things: readonly Reloadable[];
  readonly #log: Log;
  readonly #isStopping: () => boolean;
  #isRunning = false;
  #isWanted = false;

  constructor(things: readonly Reloadable[], log: Log, isStopping: () => boolean) {
    this.#things = things;
    this.#log = log;
    this.#isStopping = isStopping;
  }

  /**
   * Renews all things, one after another. Asked again meanwhile, once more or often, it starts over once when it is done:
   * the files may have changed after they were read. A router that stops takes no new ones.
   */
  async run(): Promise<void> {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#runOnce();
    }
    this.#isRunning = false;
  }

  async #runOnce(): Promise<void> {
    if (this.#things.length === 0) this.#log.warn('SIGHUP: nothing to reload, no setting names a file that can be');
    for (const thing of this.#things) {
      if (this.#isStopping()) {
        this.#log.warn('SIGHUP: not reloading, the router is stopping');
        return;
      }
      await this.#reload(thing);
    }
  }

  async #reload({ name, reload }: Reloadable): Promise<void> {
    try {
      const outcome = await reload();
      if (outcome.ok) this.#log.info(`Reloaded ${name}`, outcome.value);
      else for (const reason of outcome.fault) this.#log.error(`Cannot reload ${name}, nothing changed`, { reason });
    } catch (error) {
      // A bug in one thing keeps the others from nothing, and must not end the process.
      this.#log.error(`Failed to reload ${name}`, { cause: describeError(error) });
    }
  }
}
