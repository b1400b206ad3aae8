// An agent as policies see it. Whoever asks the policy fills this in, so that no rule of a policy knows where agents
// come from, and a figure that nobody measures is simply absent.

/** Figures of one moment. */
export interface Taken<Figures> {
  readonly metrics: Figures;
  /** When, on the monotonic clock. */
  readonly takenMs: number;
}

/** What the engine tells; undefined is what it does not. */
export interface EngineFigures {
  /** Share of the KV cache in use, 0 to 1. */
  readonly kvCacheUse: number | undefined;
  readonly runningRequests: number | undefined;
  readonly waitingRequests: number | undefined;
  readonly ttftMs: number | undefined;
  readonly ttftP90Ms: number | undefined;
  readonly itlMs: number | undefined;
  readonly itlP90Ms: number | undefined;
}

/** What the machine tells; every percentage 0 to 100. */
export interface HardwareFigures {
  /** Empty on a machine without GPUs. */
  readonly gpus: readonly {
    readonly temperatureC: number;
    readonly utilPercent: number;
    readonly vramUsedBytes: number;
    readonly vramTotalBytes: number;
  }[];
  readonly cpuUsagePercent: number | undefined;
  readonly memoryUsedPercent: number | undefined;
}

/** How its requests went. */
export interface RecordFigures {
  /**
   * When it last got a request or ended one, on the monotonic clock: an agent that is given nothing has no news, however
   * bad the old ones were.
   */
  readonly takenMs: number;
  /** Of all its tries, 0 to 1. */
  readonly successRate: number | undefined;
  /** Smoothed milliseconds to the head of an answer. */
  readonly srttMs: number | undefined;
  readonly consecutiveFailures: number | undefined;
}

/**
 * How far an agent is trusted whose probes are good, whatever the strategy. `trial`: the next request goes there first.
 * `passed_over`: only when nobody else has a slot.
 */
export type Standing = 'trusted' | 'trial' | 'passed_over';

export interface PolicyAgent {
  /** Unique among the agents of the site. */
  readonly id: string;
  readonly engine: string;
  readonly region: string | undefined;
  readonly organization: string | undefined;
  readonly machine: string | undefined;
  readonly gpuModel: string | undefined;
  readonly tags: readonly string[];
  readonly isHealthy: boolean;
  /** It can do what the request's endpoint asks for: capability and path. */
  readonly isCapable: boolean;
  /** Slots in use. */
  readonly active: number;
  /** Slots in all. */
  readonly capacity: number;
  /** Grows with every turn that any agent gets; 0 before the first. */
  readonly lastTaken: number;
  readonly standing: Standing;
  readonly record: RecordFigures | undefined;
  readonly engineMetrics: Taken<EngineFigures> | undefined;
  readonly hardware: Taken<HardwareFigures> | undefined;
}
