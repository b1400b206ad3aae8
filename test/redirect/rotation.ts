// Rotations of the secret over three sites, one restart at a time: who refuses which token that is on its way.
// Ledgers are left out: one that a restart emptied lets more in, and none of them ever says `signature`.

import { CLOCK_GRACE_MS } from '../../src/redirect/claims.ts';
import type { Keyring } from '../../src/redirect/keyring.ts';
import { verifyBeforeBody } from '../../src/redirect/verify.ts';
import { keyring, NOW_MS, present, SECRET_K1, site, token } from './builders.ts';
import { facts } from './target.ts';

const SITES = [0, 1, 2] as const;
const STEPS = 3;
const LIFETIME_MS = 60_000;
const BETWEEN_RESTARTS_MS = 1_000;
/** How long a restarted site is without a map. */
const MAP_AFTER_MS = 100;

/** Until then a token may be presented: what a step that removes a secret has to wait for. */
export const TOKEN_END_MS = LIFETIME_MS + CLOCK_GRACE_MS;

const SECRET_K2 = 'another-secret-of-thirty-two-bytes';

/** The secrets file after 0 to 3 steps of the product page: as it was, added, moved to the first line, old one removed. */
const ROTATION: readonly Keyring[] = [
  keyring(`k1:${SECRET_K1}`),
  keyring(`k1:${SECRET_K1}`, `k2:${SECRET_K2}`),
  keyring(`k2:${SECRET_K2}`, `k1:${SECRET_K1}`),
  keyring(`k2:${SECRET_K2}`),
];

/** Which site takes its next step, nine times. */
export type RestartOrder = readonly number[];

/** All 1,680 orders in which three sites can take three steps each. */
export function restartOrders(taken: readonly number[] = []): readonly RestartOrder[] {
  if (taken.length === SITES.length * STEPS) return [taken];
  const stepsOf = (at: number) => taken.filter((other) => other === at).length;
  return SITES.filter((at) => stepsOf(at) < STEPS).flatMap((at) => restartOrders([...taken, at]));
}

/** Whether every site takes a step before any takes the next, as the product page has it. */
export function isStepwise(order: RestartOrder): boolean {
  return [0, 3, 6].every((from) => new Set(order.slice(from, from + 3)).size === SITES.length);
}

interface Restart {
  readonly atMs: number;
  readonly site: number;
}

/** When the sites restart: one after the other, with a pause before every step that removes the old secret. */
function timelineOf(order: RestartOrder, waitMs: number): readonly Restart[] {
  const restarts: Restart[] = [];
  let atMs = 0;
  for (const [index, at] of order.entries()) {
    const step = order.slice(0, index + 1).filter((other) => other === at).length;
    atMs += step === STEPS ? waitMs : BETWEEN_RESTARTS_MS;
    restarts.push({ atMs, site: at });
  }
  return restarts;
}

/**
 * The first token on its way that a site refuses as `signature`, as a sentence, or undefined. Tokens are made and
 * presented right at every restart and in the last millisecond before it, by every site to every other.
 */
export function refusedInRotation(order: RestartOrder, waitMs: number): string | undefined {
  const restarts = timelineOf(order, waitMs);
  const moments = [0, ...restarts.flatMap(({ atMs }) => [atMs - 1, atMs, atMs + MAP_AFTER_MS])];
  for (const mintedMs of moments) {
    for (const shownMs of moments.filter((atMs) => atMs >= mintedMs && atMs - mintedMs <= TOKEN_END_MS)) {
      const found = refusedBetween(restarts, mintedMs, shownMs);
      if (found !== undefined) return `sites restart in the order ${order.join('')}: ${found}`;
    }
  }
  return undefined;
}

function refusedBetween(restarts: readonly Restart[], mintedMs: number, shownMs: number): string | undefined {
  for (const from of SITES) {
    for (const to of SITES.filter((other) => other !== from)) {
      const [minted, shown] = [stepAt(restarts, from, mintedMs), stepAt(restarts, to, shownMs)];
      const hasMap = !restarts.some(
        ({ site, atMs }) => site === to && shownMs >= atMs && shownMs < atMs + MAP_AFTER_MS,
      );
      if (reasonFor(minted, shown, shownMs - mintedMs, hasMap) !== 'signature') continue;
      const when = `made at ${mintedMs} ms by site ${from} after step ${minted}`;
      return `a token ${when}, shown at ${shownMs} ms to site ${to} after step ${shown}`;
    }
  }
  return undefined;
}

function stepAt(restarts: readonly Restart[], at: number, timeMs: number): number {
  return restarts.filter(({ site, atMs }) => site === at && atMs <= timeMs).length;
}

const REASONS = new Map<string, string>();

/** Remembered: 1,680 orders ask the same few hundred questions. */
function reasonFor(minted: number, shown: number, ageMs: number, hasMap: boolean): string {
  const key = `${minted} ${shown} ${ageMs} ${hasMap}`;
  const known = REASONS.get(key);
  if (known !== undefined) return known;
  const text = token({ lifetimeMs: LIFETIME_MS }, present(ROTATION[minted]));
  const ownSite = hasMap ? site('site-fr-2', 'FR', true) : undefined;
  const verdict = verifyBeforeBody([text], present(ROTATION[shown]), facts({ ownSite, arrivedMs: NOW_MS + ageMs }));
  const reason = verdict.ok ? 'accepted' : verdict.fault.reason;
  REASONS.set(key, reason);
  return reason;
}
