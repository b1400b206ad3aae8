// The half of a modelled router that knows who comes in and that signs what goes out: secrets, keys, clock, ledger. The
// order of its steps is that of src/http/entrance.ts; it remembers its answers, for the same state answers alike.

import {
  authenticate,
  authenticateFallback,
  type Caller,
  type ClientAuth,
  callerOfKey,
  tokenKeyMatches,
} from '../../src/auth/authenticate.ts';
import type { Credentials } from '../../src/auth/credentials.ts';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import type { Keyring } from '../../src/redirect/keyring.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { nextClaims, type Passage, passageOf } from '../../src/redirect/next-hop.ts';
import { mintToken } from '../../src/redirect/token.ts';
import type { Refusal, RefusalReason } from '../../src/redirect/verify.ts';
import { NEW_PASSAGE } from '../../src/routing/decide-route.ts';
import { formatScope, ownScope, parseScope, type Scope } from '../../src/site/scope.ts';
import type { Site, SiteId } from '../../src/site/site.ts';
import { buildKey, buildRegistry } from '../auth/key-builder.ts';
import { keyring, NOW_MS, present } from '../redirect/builders.ts';
import { Target } from '../redirect/target.ts';
import { bodyHashOf, credentialsOf } from './clients.ts';
import { CLIENTS_MAX, type Client, KEY_IDS, OTHER_KEY_ID, type RouterState, SECRETS, SITES } from './world.ts';

const ENDPOINT = '/v1/chat/completions';
export const MODEL = 'm';
const REQUEST_ID = '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a';
const LIFETIME_MS = 60_000;

/** What a 307 carries away. */
export interface Token {
  /** From 1, the same for the same claims under the same secret. */
  readonly id: number;
  readonly text: string;
  readonly claims: RedirectClaims;
}

/** One request as a router sees it. Without a token the client starts here. */
export interface Request {
  readonly client: Client;
  readonly token: Token | undefined;
  /** Whether the client sends the very same request for the second time. */
  readonly isRepeat: boolean;
}

/** A request that may go on, and all that its next token depends on. */
export interface Admitted {
  readonly id: number;
  readonly keyId: string;
  readonly passage: Passage;
  readonly scope: Scope | undefined;
  readonly bodyHash: string;
}

export interface Entry {
  readonly refusal: RefusalReason | undefined;
  /** Undefined: 401. */
  readonly admitted: Admitted | undefined;
}

/** How a request goes on whose token was refused: `fallbackPassage`, or a rule that a test puts in its place. */
export type PassageRule = (refusal: Refusal) => Passage;

/** The product page taken literally: "served … as a new request". It loops. */
export const literalPassage: PassageRule = () => NEW_PASSAGE;

/** Gives equal things one number, so that what depends on them can be remembered under it. */
export class Numbering<Value extends { readonly id: number }> {
  readonly #values = new Map<string, Value>();

  valueFor(key: string, make: (id: number) => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const made = make(this.#values.size + 1);
    this.#values.set(key, made);
    return made;
  }
}

/** What all desks of one search share. */
export interface Shared {
  readonly rule: PassageRule;
  readonly tokens: Numbering<Token>;
  readonly admitted: Numbering<Admitted>;
}

export class TokenDesk {
  readonly #shared: Shared;
  readonly #siteId: SiteId;
  readonly #ownSite: Site | undefined;
  readonly #keyring: Keyring;
  readonly #auth: ClientAuth;
  readonly #nowMs: number;
  readonly #entries = new Map<number, Entry>();
  readonly #minted = new Map<string, Token | undefined>();

  /** `ownSite`: this site's entry in its own map, as `TargetFacts` has it. */
  constructor(shared: Shared, state: RouterState, ownSite: Site | undefined) {
    this.#shared = shared;
    this.#siteId = present(SITES[state.site]).id;
    this.#ownSite = ownSite;
    this.#keyring = keyring(...SECRETS[state.secrets]);
    this.#auth = authOf(state);
    this.#nowMs = NOW_MS + state.clockMs;
  }

  enter(request: Request): Entry {
    const key = ((request.token?.id ?? 0) * CLIENTS_MAX + request.client.id) * 2 + (request.isRepeat ? 1 : 0);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = this.#enterAnew(request);
    this.#entries.set(key, entry);
    return entry;
  }

  /** The token for the next redirect; undefined when there must be none. */
  mint(admitted: Admitted, scope: Scope, target: SiteId): Token | undefined {
    const key = `${admitted.id} ${target}`;
    if (this.#minted.has(key)) return this.#minted.get(key);
    const token = this.#mintAnew(admitted, scope, target);
    this.#minted.set(key, token);
    return token;
  }

  #enterAnew(request: Request): Entry {
    const { client, token } = request;
    const credentials = credentialsOf(client, token?.text);
    if (token === undefined) {
      const caller = authenticate(this.#auth, credentials, this.#nowMs);
      return { refusal: undefined, admitted: caller && this.#newRequest(request, caller, NEW_PASSAGE) };
    }
    const refusal = this.#refusalOf(request, token, credentials);
    if (refusal !== undefined) {
      const caller = authenticateFallback(this.#auth, credentials, this.#nowMs);
      const admitted = caller && this.#newRequest(request, caller, this.#shared.rule(refusal));
      return { refusal: refusal.reason, admitted };
    }
    const { keyId, scope, bodyHash } = token.claims;
    const caller = present(callerOfKey(this.#auth, keyId, this.#nowMs));
    return { refusal: undefined, admitted: this.#admit(caller.keyId, passageOf(token.claims), scope, bodyHash) };
  }

  /** All eight checks; for a repeat, what they say the second time. */
  #refusalOf({ client, isRepeat }: Request, token: Token, credentials: Credentials): Refusal | undefined {
    const target = new Target(new UsedTokenLedger(), this.#keyring);
    const presented = {
      shown: credentials.tokens,
      facts: {
        siteId: this.#siteId,
        endpoint: ENDPOINT,
        ownSite: this.#ownSite,
        arrivedMs: this.#nowMs,
        startedMs: undefined,
        keyMatches: tokenKeyMatches(this.#auth, credentials, this.#nowMs),
      },
      bodyHash: bodyHashOf(client, token !== undefined),
      completeMs: this.#nowMs,
    } as const;
    const first = target.take(presented);
    return isRepeat ? target.take(presented) : first;
  }

  #newRequest({ client, token }: Request, caller: Caller, passage: Passage): Admitted {
    const scope = client.scope === undefined ? ownScope(this.#ownSite) : parseScope(client.scope);
    return this.#admit(caller.keyId, passage, scope, bodyHashOf(client, token !== undefined));
  }

  #admit(keyId: string, passage: Passage, scope: Scope | undefined, bodyHash: string): Admitted {
    const scopeText = scope === undefined ? '' : formatScope(scope);
    const key = `${keyId} ${passage.hops} ${passage.origin ?? ''} ${scopeText} ${bodyHash}`;
    return this.#shared.admitted.valueFor(key, (id) => ({ id, keyId, passage, scope, bodyHash }));
  }

  #mintAnew({ keyId, passage, bodyHash }: Admitted, scope: Scope, target: SiteId): Token | undefined {
    const carried = {
      endpoint: ENDPOINT,
      scope,
      bodyHash,
      requestId: REQUEST_ID,
      clientRequestId: undefined,
      keyId,
      model: MODEL,
    } as const;
    const random = (size: number) => new Uint8Array(size);
    const claims = nextClaims(carried, passage, {
      here: this.#siteId,
      target,
      nowMs: this.#nowMs,
      lifetimeMs: LIFETIME_MS,
      random,
    });
    if (claims === undefined) return undefined;
    const text = present(mintToken(claims, this.#keyring));
    return this.#shared.tokens.valueFor(text, (id) => ({ id, text, claims }));
  }
}

function authOf({ auth }: RouterState): ClientAuth {
  if (auth === 'open') return { mode: 'none' };
  const keys = auth === 'keys' ? [...KEY_IDS, OTHER_KEY_ID].map((id) => buildKey(id)) : [];
  return { mode: 'dynamic', registry: buildRegistry(...keys) };
}
