// What the HTTP room needs of the rest of the router: one object, wired once at the start.

import type { TokenRatios } from '../admission/estimate.ts';
import type { GatePorts } from '../admission/gates.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { AdminAuth } from '../auth/admin.ts';
import type { ClientAuth } from '../auth/authenticate.ts';
import type { DispatchRequest } from '../dispatch/dispatch.ts';
import type { DispatchOutcome } from '../dispatch/outcome.ts';
import type { HoldQueue } from '../hold/hold-queue.ts';
import type { NowMs, RandomBytes } from '../lib/clock.ts';
import type { Provider } from '../policy/policy.ts';
import type { PolicyStore } from '../policy/store.ts';
import type { QuotaStores } from '../quota/charge.ts';
import type { Keyring } from '../redirect/keyring.ts';
import type { UsedTokenLedger } from '../redirect/ledger.ts';
import type { AliasStore } from '../routing/alias-store.ts';
import type { Connection } from '../runtime/runtime.ts';
import type { AllowedDomain } from '../site/allowed-domain.ts';
import type { SiblingMapStore } from '../site/sibling-map-store.ts';
import type { SiteId } from '../site/site.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { QueueDepth } from '../telemetry/queue-metrics.ts';
import type { RegistrationStream } from '../telemetry/registration-stream.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { ActiveRequests } from './active-requests.ts';
import type { PushQueue } from './admin/push-queue.ts';
import type { BodyPorts } from './body.ts';
import type { StallLimit } from './cut-stalled.ts';
import type { Turns } from './turns.ts';

/** Present when a site ID is set: this site's half of cross-site redirect. */
export interface RedirectSite {
  readonly siteId: SiteId;
  readonly domains: readonly AllowedDomain[];
  readonly keyring: Keyring;
  readonly tokenTtlMs: number;
  readonly ledger: UsedTokenLedger;
  readonly maps: SiblingMapStore;
}

/** Keeps what was accepted over a restart. To be awaited before the answer: each resolves once it is written, or cannot be. */
export interface KeptPushes {
  keysReplaced(): Promise<void>;
  /** The key with this ID was put or taken out. */
  keyChanged(id: string): Promise<void>;
  mapReplaced(): Promise<void>;
}

export interface RouterPorts {
  /** Of this router, as `--version` tells it. */
  readonly version: string;
  readonly auth: ClientAuth;
  readonly admin: AdminAuth;
  /** Undefined: cross-site redirect is off, and the router behaves as without it. */
  readonly redirect: RedirectSite | undefined;
  /** Undefined: pushes live in memory only. */
  readonly kept: KeptPushes | undefined;
  /** Unix ms at which this router started with keys or a map of before; undefined: it restored none (A15). */
  readonly restoredAtMs: number | undefined;
  readonly agents: AgentRegistry;
  /** Whoever wants to know which agents come and go. */
  readonly registrations: RegistrationStream;
  readonly aliases: AliasStore;
  readonly policies: PolicyStore;
  /** Fallback providers of which there is a key: a policy may name no other. */
  readonly providers: ReadonlySet<Provider>;
  /** What requests are charged to. */
  readonly quotas: QuotaStores;
  /** What lets requests in to the engines. */
  readonly gates: GatePorts;
  /** What the engines' answers teach about the size of prompts. */
  readonly ratios: TokenRatios;
  /** Keys and policies are judged against each other, so that they change one after another. */
  readonly limitWrites: PushQueue;
  /** Of every model that an agent lists. */
  readonly queueDepths: () => readonly QueueDepth[];
  readonly dispatch: (request: DispatchRequest) => Promise<DispatchOutcome>;
  /** Who waits for a model to wake; nobody while cross-site redirect is off. */
  readonly holds: HoldQueue;
  /** Largest body of an inference request. */
  readonly maxRequestBytes: number;
  readonly bodies: BodyPorts;
  /** With a budget of their own. */
  readonly adminBodies: BodyPorts;
  /** When a long answer is cut because its client takes nothing. */
  readonly stalls: StallLimit;
  readonly active: ActiveRequests;
  /** Where all work that is too long for one go takes its turns. */
  readonly turns: Turns;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Takes whole lines. */
  readonly writeAccessLine: (line: string) => void;
  /** True from the first stop signal on: not ready, and connections are not kept (E13). */
  readonly isStopping: () => boolean;
  readonly nowMs: NowMs;
  /** Monotonic milliseconds with fractions, for durations only. */
  readonly monotonicMs: () => number;
  readonly random: RandomBytes;
}

/** What comes with each request into the application: Hono hands it on as `env`. */
interface Visit {
  readonly connection: Connection;
  readonly record: RequestRecord;
}

/** Hono's types for this application. */
export interface RouterEnv {
  Bindings: Visit;
}
