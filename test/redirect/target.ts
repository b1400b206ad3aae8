// A target that takes requests with tokens: the room's checks in the order in which the HTTP room makes them, with the
// time between head and body in the test's hand.

import type { Keyring } from '../../src/redirect/keyring.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { type Refusal, type TargetFacts, verifyBeforeBody, verifyBody } from '../../src/redirect/verify.ts';
import { claims, keyring, NOW_MS, site, siteId } from './builders.ts';

/** One request as the target sees it. */
export interface Presented {
  /** Values of `rt`. */
  readonly shown: readonly string[];
  readonly facts: TargetFacts;
  readonly bodyHash: string;
  /** When the last byte of the body is there. */
  readonly completeMs: number;
}

/** The site and key that the claims of `claims()` are for, at the moment they were issued. */
export function facts(change: Partial<TargetFacts> = {}): TargetFacts {
  return {
    siteId: siteId('site-fr-2'),
    endpoint: '/v1/chat/completions',
    ownSite: site('site-fr-2', 'FR', true),
    arrivedMs: NOW_MS,
    startedMs: undefined,
    keyMatches: (keyId) => keyId === 'key-abc123',
    ...change,
  };
}

/** A request that passes all checks with a token of `claims()`. */
export function presented(shown: readonly string[], change: Partial<Presented> = {}): Presented {
  return { shown, facts: facts(), bodyHash: claims().bodyHash, completeMs: NOW_MS, ...change };
}

/** What check 8 asks of a ledger: ours, or a worse one that a simulation has to find out. */
export type TokenLedger = Pick<UsedTokenLedger, 'check' | 'markUsed'>;

export class Target {
  readonly ledger: TokenLedger;
  readonly #keyring: Keyring;

  constructor(ledger: TokenLedger = new UsedTokenLedger(), secrets: Keyring = keyring()) {
    this.ledger = ledger;
    this.#keyring = secrets;
  }

  /** All eight checks and the mark. Undefined: accepted. */
  take({ shown, facts, bodyHash, completeMs }: Presented): Refusal | undefined {
    const head = verifyBeforeBody(shown, this.#keyring, facts);
    if (!head.ok) return head.fault;
    const whole = verifyBody(head.value, bodyHash);
    if (!whole.ok) return whole.fault;
    const reason = this.ledger.check(head.value, completeMs);
    if (reason !== undefined) return { reason, authentic: head.value };
    this.ledger.markUsed(head.value, completeMs);
    return undefined;
  }
}
