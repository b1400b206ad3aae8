// Schema 3 of the sibling map as readers: the field table of the product page, line by line. Apart from the door that
// uses them, so that a rule is looked up and changed in one place.

import { durationMs, NS_PER_MS, parseDuration } from '../lib/duration.ts';
import { isName, NAME_MAX_BYTES } from '../lib/name.ts';
import { ok, type Result } from '../lib/result.ts';
import type { Steps } from '../lib/steps.ts';
import type { JsonShaped, JsonValue } from '../lib/strict-json.ts';
import { parseTimestamp } from '../lib/timestamp.ts';
import type { AllowedDomain } from './allowed-domain.ts';
import { parseCountryCode } from './country.ts';
import {
  array,
  type BrokenRule,
  broken,
  longArray,
  object,
  oneOf,
  optional,
  type Reader,
  readBoolean,
  required,
  shaped,
  text,
} from './field-readers.ts';
import { KINDS, type Kind } from './kind.ts';
import { type Hint, LOADS, MAP_MAX_PLACEMENTS, MAP_MAX_SITES, type Placement } from './sibling-map.ts';
import { parseSiteId, type Site, type SiteId } from './site.ts';
import { parseSiteUrl } from './site-url.ts';

/** A time or a duration, as it stands in the document and in milliseconds. */
interface Spelled {
  readonly text: string;
  readonly ms: number;
}

/** The members of a map. Its placements are read by `readPlacements`, once the sites are known. */
export interface MapMembers {
  readonly schema: 3;
  readonly version: bigint;
  readonly region: string;
  readonly generated_at: Spelled | undefined;
  readonly sites: readonly Site[];
  readonly placements: JsonValue;
  readonly hints_expire_at: Spelled | undefined;
}

interface PlacementMembers {
  readonly model: string;
  readonly kind: Kind;
  readonly site: SiteId;
  readonly scale_from_zero: boolean;
  readonly hold_budget: Spelled | undefined;
  readonly hint: Hint | undefined;
}

const SMALL_INTEGER = /^(?:0|[1-9][0-9]{0,8})$/;

/** The integer 3, written as `3`. */
export const readSchema: Reader<3> = (value) => {
  if (value.kind !== 'number' || !SMALL_INTEGER.test(value.lexeme)) return broken('not the integer 3');
  return value.lexeme === '3' ? ok(3) : broken(`schema ${value.lexeme} is not supported, only schema 3 is`);
};

const VERSION_FORM = /^(?:0|[1-9][0-9]{0,19})$/;
const VERSION_MAX = 2n ** 64n - 1n;

/** The digits decide: `1.0`, `1e3` and `-0` are integers to a JavaScript number, and not here. */
const readVersion: Reader<bigint> = (value) => {
  const version = value.kind === 'number' && VERSION_FORM.test(value.lexeme) ? BigInt(value.lexeme) : undefined;
  return version !== undefined && version <= VERSION_MAX ? ok(version) : broken('not an integer from 0 to 2^64 - 1');
};

/** A region or a model (R-180, R-190, D-71). The strict parser has refused lone surrogates. */
const readName = text(`not a string of 1 to ${NAME_MAX_BYTES} bytes without control characters`, (name) =>
  isName(name) ? name : undefined,
);

const UNLISTED = 'not the ID of a listed site';

const readTime = text('not an RFC 3339 time', (time): Spelled | undefined => {
  const ms = parseTimestamp(time);
  return ms === undefined ? undefined : { text: time, ms };
});

const HOLD_BUDGET_MAX_NS = 3_600_000n * NS_PER_MS;

/** Compared in nanoseconds: `1h1ns` is too long (R-195, D-65). */
const readHoldBudget = text('not a Go duration above 0 and at most 1h', (budget): Spelled | undefined => {
  const duration = parseDuration(budget);
  if (!duration.ok || duration.value <= 0n || duration.value > HOLD_BUDGET_MAX_NS) return undefined;
  return { text: budget, ms: durationMs(duration.value) };
});

function readSiteUrl(domains: readonly AllowedDomain[]): Reader<string> {
  return (value) => {
    if (value.kind !== 'string') return broken('not a string');
    const url = parseSiteUrl(value.value, domains);
    return url.ok ? url : broken(url.fault);
  };
}

function readSites(domains: readonly AllowedDomain[]): Reader<readonly Site[]> {
  const readSite = object<Site>({
    id: required(text('not 1 to 64 letters, digits, ".", "_" or "-"', parseSiteId)),
    url: required(readSiteUrl(domains)),
    country: required(text('not an ISO 3166-1 alpha-2 code', parseCountryCode)),
    eu: required(readBoolean),
  });
  const limits = { min: 1, max: MAP_MAX_SITES, rule: `not an array of 1 to ${MAP_MAX_SITES} sites` };
  return array(readSite, limits, [
    { key: (site) => site.id, path: '.id', rule: 'already the ID of another site' },
    // Of two sites behind one URL a client cannot reach the one that its token names (D-63).
    { key: (site) => site.url, path: '.url', rule: 'already the URL of another site' },
  ]);
}

const readHintMembers = object<{ warm: boolean | undefined; load: Hint['load'] | undefined }>({
  warm: optional(readBoolean),
  load: optional(oneOf(LOADS)),
});

/** Without `warm` the site is warm, without `load` it is ok: an unknown load must not skip a site (D-13). */
const readHint = shaped(readHintMembers, ({ warm = true, load = 'ok' }): Hint => Object.freeze({ warm, load }));

/** Reads a placement, whose site is what `findSite` makes of its ID. */
function readPlacement(findSite: (id: string) => SiteId | undefined): Reader<Placement> {
  const readPlacementMembers = object<PlacementMembers>({
    model: required(readName),
    kind: required(oneOf(KINDS)),
    site: required(text(UNLISTED, findSite)),
    scale_from_zero: required(readBoolean),
    hold_budget: optional(readHoldBudget),
    hint: optional(readHint),
  });
  // Member by member: of objects made by spreading, V8 keeps each as a hash table of its own.
  return shaped(readPlacementMembers, ({ model, kind, site, scale_from_zero, hold_budget, hint }) =>
    Object.freeze({
      model,
      kind,
      site,
      scaleFromZero: scale_from_zero,
      holdBudget: hold_budget?.text,
      holdBudgetMs: hold_budget?.ms,
      hint,
    }),
  );
}

/** A placement that obeys every rule of its own. Whether its site is listed is seen once all of the document is read. */
class PlacementDraft implements JsonShaped {
  readonly kind = 'shaped';
  readonly placement: Placement;

  constructor(placement: Placement) {
    this.placement = placement;
  }
}

const readDraft = readPlacement(parseSiteId);

/** Brings a good placement into its shape while the document is read, and leaves all else as it is. */
export function shapePlacement(item: JsonValue, member: string): JsonValue {
  const placement = member === 'placements' ? readDraft(item) : undefined;
  return placement?.ok === true ? new PlacementDraft(placement.value) : item;
}

/** A draft, or a placement that no draft could be made of: that one breaks a rule, and this reader tells which. */
function readListed(sites: ReadonlyMap<string, Site>): Reader<Placement> {
  const readWhole = readPlacement((id) => sites.get(id)?.id);
  return (value) => {
    if (!(value instanceof PlacementDraft)) return readWhole(value);
    return sites.has(value.placement.site) ? ok(value.placement) : broken(UNLISTED, '.site');
  };
}

/** The placements, all of them at one of `sites`; one per model and site, whatever the kind. */
export function readPlacements(
  sites: ReadonlyMap<string, Site>,
  sliceItems?: number,
): (value: JsonValue) => Steps<Result<readonly Placement[], BrokenRule>> {
  const limits = { min: 0, max: MAP_MAX_PLACEMENTS, rule: `not an array of at most ${MAP_MAX_PLACEMENTS} placements` };
  // A site ID holds no blank, so that the two parts of the key cannot run together.
  const key = ({ site, model }: Placement) => `${site} ${model}`;
  const unique = [{ key, path: '', rule: 'second placement of this model at this site' }];
  return longArray(readListed(sites), limits, unique, sliceItems);
}

/** The root object and its sites. */
export function readMembers(domains: readonly AllowedDomain[]): Reader<MapMembers> {
  return object<MapMembers>({
    schema: required(readSchema),
    version: required(readVersion),
    region: required(readName),
    generated_at: optional(readTime),
    sites: required(readSites(domains)),
    placements: required(ok),
    hints_expire_at: optional(readTime),
  });
}
