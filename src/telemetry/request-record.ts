// What is known of one request, filled on the way and read once at its end by access log and metrics.

import type { RefusalReason } from '../redirect/verify.ts';
import type { RoutedLabels } from './routing-metrics.ts';

export interface RequestRecord {
  /** Unix ms at which the request head arrived; check 2 and 3 read the clock here (A8). */
  readonly arrivedMs: number;
  /** Monotonic ms at the same moment, for durations. */
  readonly startedMs: number;
  readonly method: string;
  /** Path and query as sent. Only ever written through `redactTarget`. */
  readonly target: string;
  readonly sourceIp: string;
  /** Sent back as `X-Request-ID`; an accepted token brings its own. */
  requestId: string;
  /** Sent back as `X-Client-Request-ID` (D-40). */
  clientRequestId: string | undefined;
  /** Route template for the metric, a fixed set; `unmatched` for unknown paths. */
  route: string;
  status: number;
  /** As on the wire, of the router's own errors. */
  errorCode: string | undefined;
  /** Why the token that came with the request was refused, whatever followed (E2: for logs and metrics only). */
  refusalReason: RefusalReason | undefined;
  keyId: string | undefined;
  /** The alias that the request named, if it named one: a name of the operator's table. */
  alias: string | undefined;
  /** The routed model, once the caller may use it. */
  model: string | undefined;
  /** Who answered or was asked last; `provider:openai` when that was no agent. */
  agentId: string | undefined;
  /** Of the agent, empty when it has none. */
  deploymentId: string | undefined;
  /** For metrics: of a request that this site was to serve. */
  routing: RoutedLabels | undefined;
  /** Of a 307: the target site. */
  redirectSite: string | undefined;
  /** Of a 307 and of an accepted token: where the request first arrived, and the token's hop. */
  originSite: string | undefined;
  hop: 1 | 2 | undefined;
  /** What a caller under a limit is told to have left; undefined: nothing is said. */
  remainingRequests: number | undefined;
  remainingTokens: number | undefined;
  /** Tokens of the answer: as the engine told them; of one that was cut, or whose client left before it, as charged. */
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  /** A stream that the engine ended well, but without its dialect's last word. */
  isIncomplete: boolean;
  /** Milliseconds for which it was held until its model woke, or did not; undefined: it was not. */
  holdMs: number | undefined;
  /** Milliseconds to the first byte of a streamed answer. */
  firstByteMs: number | undefined;
  /** What the request has taken of the budget of all bodies; given back at its end. */
  bodyBytes: number;
  /** Set while a streamed answer is under way: whoever streams ends the record. */
  streaming: boolean;
}
