// The redirect of `serve`: this site's secrets, its used tokens and its sibling map, and what the metrics show of them.

import type { Config } from '../config/config.ts';
import type { RedirectSite } from '../http/router-ports.ts';
import { UsedTokenLedger } from '../redirect/ledger.ts';
import { areHintsFresh } from '../site/sibling-map.ts';
import { SiblingMapStore } from '../site/sibling-map-store.ts';
import type { MetricSources } from '../telemetry/metrics.ts';

/** Undefined: cross-site redirect is off. */
export function redirectSite(config: Config): RedirectSite | undefined {
  if (config.redirect === undefined) return undefined;
  const { siteId, keyring, tokenTtlMs, allowedDomains } = config.redirect;
  const state = { ledger: new UsedTokenLedger(), maps: new SiblingMapStore() };
  return { siteId, keyring, tokenTtlMs, domains: allowedDomains, ...state };
}

export function redirectGauges(redirect: RedirectSite | undefined): MetricSources['redirect'] {
  if (redirect === undefined) return undefined;
  const { maps } = redirect;
  return {
    mapVersion: () => maps.current().version,
    areHintsExpired: () => !areHintsFresh(maps.current(), Date.now()),
  };
}
