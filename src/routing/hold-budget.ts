// Whether a request may wait here for its model to wake, and for how long. Apart from the decision, because those who
// wait are asked again whenever a map is pushed (decisions.md, "Hold at zero").

import type { Kind } from '../site/kind.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { SiteId } from '../site/site.ts';

/** This site, and the map that it is looked up in. */
export interface Here {
  readonly siteId: SiteId;
  readonly map: SiblingMap;
}

export interface HoldQuestion {
  readonly model: string;
  readonly kind: Kind;
  /** Undefined: cross-site redirect is off, and nothing is held. */
  readonly here: Here | undefined;
  /** For a placement that does not say, 0 or more. */
  readonly defaultHoldMs: number;
  /** As long as the client wants to wait, 0 or more; undefined: as long as it takes. */
  readonly maxWaitMs: number | undefined;
}

/**
 * Milliseconds from the start of the hold to its end; 0: the request is not held, since this site does not start the
 * model when it is cold, or either side has no time for it (R-030, R-031, R-051, R-196, D-05).
 */
export function holdBudgetMs({ model, kind, here, defaultHoldMs, maxWaitMs }: HoldQuestion): number {
  const placement = here?.map.placement(model, kind, here.siteId);
  if (placement?.scaleFromZero !== true) return 0;
  return Math.min(placement.holdBudgetMs ?? defaultHoldMs, maxWaitMs ?? Number.POSITIVE_INFINITY);
}
