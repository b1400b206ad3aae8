// A request that stays: served at once or held first, and decided again when its agents were gone before any had it. Apart
// from both, because each can be followed by the other.

import type { HoldStart } from '../hold/hold-queue.ts';
import type { Arrival } from './entrance.ts';
import { holdHere, type Waiting } from './hold-here.ts';
import type { RouterPorts } from './router-ports.ts';
import { type ChargedRequest, serveHere } from './serve-here.ts';

/** What was decided, and what decides again. */
export interface Staying extends Omit<Waiting, 'since'> {
  readonly next: 'serve' | 'hold';
}

/**
 * The answer, or a RouterError that says why there is none. The router learns that an engine was stopped by the request
 * that finds nobody there: it goes the way of the next one. Served twice at most; and all its holds share one budget, which
 * bounds how often it comes back.
 */
export async function stayHere(
  ports: RouterPorts,
  arrival: Arrival,
  asked: ChargedRequest,
  staying: Staying,
): Promise<Response> {
  const { connection, gone } = staying;
  let mayDecideAgain = ports.redirect !== undefined;
  let since: HoldStart | undefined;
  for (let next: Response | 'serve' | 'hold' = staying.next; ; next = staying.decideAgain()) {
    if (next instanceof Response) {
      staying.giveBack();
      return next;
    }
    const stayed =
      next === 'serve'
        ? await serveHere(ports, arrival, asked, { connection, gone, mayDecideAgain })
        : await holdHere(ports, arrival, asked, { ...staying, since });
    if (stayed instanceof Response) return stayed;
    connection.endSilence();
    if (stayed !== 'unreached') since = stayed;
    mayDecideAgain = false;
  }
}
