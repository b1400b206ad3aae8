// This site's half of cross-site redirect, as a test sets it up, and how a fixture is taken for sound.

import type { RedirectSite } from '../../src/http/router-ports.ts';
import type { Result } from '../../src/lib/result.ts';
import { complete } from '../../src/lib/steps.ts';
import { parseSecretsVariable } from '../../src/redirect/keyring.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { parseAllowedDomain } from '../../src/site/allowed-domain.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { areHintsFresh } from '../../src/site/sibling-map.ts';
import { SiblingMapStore } from '../../src/site/sibling-map-store.ts';
import { parseSiteId } from '../../src/site/site.ts';

export const SECRETS = 'k1:0123456789abcdef0123456789abcdef';

export interface RedirectSettings {
  /** Undefined: cross-site redirect is off. */
  readonly siteId?: string;
  readonly secrets?: string;
  readonly map?: object | undefined;
  readonly tokenTtlMs?: number;
  /** Token IDs that the ledger takes. */
  readonly ledgerMax?: number;
}

export function redirectSite(settings: RedirectSettings): RedirectSite | undefined {
  const siteId = parseSiteId(settings.siteId ?? '');
  if (siteId === undefined) return undefined;
  const domains = [must(parseAllowedDomain('.example.com'))];
  const maps = new SiblingMapStore();
  if (settings.map !== undefined) {
    const bytes = new TextEncoder().encode(JSON.stringify(settings.map));
    maps.replace(must(complete(parseSiblingMap(bytes, { ownSite: siteId, domains }))));
  }
  const keyring = must(parseSecretsVariable(settings.secrets ?? SECRETS));
  return {
    siteId,
    domains,
    keyring,
    tokenTtlMs: settings.tokenTtlMs ?? 60_000,
    ledger: new UsedTokenLedger(settings.ledgerMax),
    maps,
  };
}

export function redirectGauges({ maps }: RedirectSite, nowMs: () => number) {
  return {
    mapVersion: () => maps.current().version,
    areHintsExpired: () => !areHintsFresh(maps.current(), nowMs()),
  };
}

export function must<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) throw new Error(`The fixture is wrong: ${String(result.fault)}`);
  return result.value;
}
