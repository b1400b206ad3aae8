// One request that the engine works on: it waits, is counted, and ends exactly once, by its own end or because the client
// left.

import type { Connection } from '../runtime/runtime.ts';
import type { EngineMetrics, FinishedReason } from './metrics.ts';
import type { MockEngineSettings } from './settings.ts';

/** The world as the engine sees it, so that a test decides time and chance. */
export interface MockEnginePorts {
  /** Unix time in milliseconds, fractions allowed; must never go back. */
  readonly nowMs: () => number;
  /** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Numbers in [0, 1); decides which requests fail. */
  readonly chance: () => number;
}

/** The part of a connection that an engine needs: it may think longer than an idle timeout. */
export type Silence = Pick<Connection, 'allowSilence' | 'endSilence'>;

/** What an endpoint knows about the request at hand beside its body. */
export interface Turn {
  readonly settings: MockEngineSettings;
  readonly ports: MockEnginePorts;
  readonly metrics: EngineMetrics;
  readonly silence: Silence;
  /** Aborts when the client leaves. */
  readonly clientGone: AbortSignal;
  /** Counts the engine's requests from 1; makes IDs unique and repeatable. */
  readonly number: number;
}

export class RunningRequest {
  readonly #turn: Turn;
  readonly #startedMs: number;
  readonly #ended = new AbortController();
  #keptTokens: number;
  #lastTokenMs: number | undefined;
  #endedBy: FinishedReason | undefined;

  /** Only once the request's body is read, which no deadline bounds here (see `Connection.allowSilence`). */
  constructor(turn: Turn, promptTokens: number) {
    this.#turn = turn;
    this.#startedMs = turn.ports.nowMs();
    this.#keptTokens = promptTokens;
    turn.metrics.requestStarted();
    turn.metrics.promptRead(promptTokens);
    turn.metrics.tokensKept(promptTokens);
    turn.silence.allowSilence();
    if (turn.clientGone.aborted) this.end('abort');
    else turn.clientGone.addEventListener('abort', this.#leave, { once: true });
  }

  /** Undefined while it runs. */
  get endedBy(): FinishedReason | undefined {
    return this.#endedBy;
  }

  /** Waits until `afterMs` milliseconds after the start. False when the request ended meanwhile. */
  async waitUntil(afterMs: number): Promise<boolean> {
    const leftMs = this.#startedMs + afterMs - this.#turn.ports.nowMs();
    if (leftMs > 0 && this.#endedBy === undefined) await this.#turn.ports.sleep(leftMs, this.#ended.signal);
    return this.#endedBy === undefined;
  }

  /** Counts one generated token. */
  countToken(): void {
    const { metrics, ports } = this.#turn;
    const now = ports.nowMs();
    if (this.#lastTokenMs === undefined) metrics.firstToken((now - this.#startedMs) / 1000);
    else metrics.nextToken((now - this.#lastTokenMs) / 1000);
    this.#lastTokenMs = now;
    this.#keptTokens += 1;
    metrics.tokenGenerated();
    metrics.tokensKept(1);
  }

  /** The first end counts; every later one does nothing. */
  end(reason: FinishedReason): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = reason;
    this.#ended.abort();
    this.#turn.clientGone.removeEventListener('abort', this.#leave);
    this.#turn.metrics.requestEnded(reason);
    this.#turn.metrics.tokensKept(-this.#keptTokens);
    this.#turn.silence.endSilence();
  }

  readonly #leave = (): void => this.end('abort');
}
