// All mutants, one group an idea. At least one for each check, claim, bound and step of the redirect core, and of holding.

import { CHECKS } from './groups/checks.ts';
import { SITE_CHOICE } from './groups/choice.ts';
import { CLAIMS } from './groups/claims.ts';
import { CALLERS } from './groups/credentials.ts';
import { DECISION } from './groups/decision.ts';
import { PASSAGE } from './groups/fallback.ts';
import { FORMATS } from './groups/formats.ts';
import { HOLDING } from './groups/hold.ts';
import { LEDGER } from './groups/ledger.ts';
import { MAP_FIELDS } from './groups/map-fields.ts';
import { MAP_STORE } from './groups/map-store.ts';
import { RESPONSE } from './groups/response.ts';
import { SCOPES } from './groups/scope.ts';
import { TOKEN } from './groups/token.ts';
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  ...TOKEN,
  ...CLAIMS,
  ...CHECKS,
  ...CALLERS,
  ...LEDGER,
  ...SCOPES,
  ...SITE_CHOICE,
  ...DECISION,
  ...PASSAGE,
  ...HOLDING,
  ...RESPONSE,
  ...MAP_FIELDS,
  ...MAP_STORE,
  ...FORMATS,
];
