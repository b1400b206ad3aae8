// Agents as policies see them: healthy, idle and without any figures, but for what a test says.

import type {
  EngineFigures,
  HardwareFigures,
  PolicyAgent,
  RecordFigures,
  Taken,
} from '../../src/policy/policy-agent.ts';

/** Now, on the monotonic clock of the tests. */
export const NOW_MS = 1_000_000;

export function agent(fields: Partial<PolicyAgent> = {}): PolicyAgent {
  return {
    id: 'a',
    engine: 'vllm',
    region: undefined,
    organization: undefined,
    machine: undefined,
    gpuModel: undefined,
    tags: [],
    isHealthy: true,
    isCapable: true,
    active: 0,
    capacity: 10,
    lastTaken: 0,
    standing: 'trusted',
    record: undefined,
    engineMetrics: undefined,
    hardware: undefined,
    ...fields,
  };
}

/** Figures that were taken `ageMs` ago. */
export function record(figures: Partial<RecordFigures>, ageMs = 0): RecordFigures {
  const none = { successRate: undefined, srttMs: undefined, consecutiveFailures: undefined };
  return { ...none, ...figures, takenMs: NOW_MS - ageMs };
}

export function engineMetrics(figures: Partial<EngineFigures>, ageMs = 0): Taken<EngineFigures> {
  const none = {
    kvCacheUse: undefined,
    runningRequests: undefined,
    waitingRequests: undefined,
    ttftMs: undefined,
    ttftP90Ms: undefined,
    itlMs: undefined,
    itlP90Ms: undefined,
  };
  return { metrics: { ...none, ...figures }, takenMs: NOW_MS - ageMs };
}

export function hardware(figures: Partial<HardwareFigures>, ageMs = 0): Taken<HardwareFigures> {
  const none = { gpus: [], cpuUsagePercent: undefined, memoryUsedPercent: undefined };
  return { metrics: { ...none, ...figures }, takenMs: NOW_MS - ageMs };
}

export function gpu(fields: Partial<HardwareFigures['gpus'][number]> = {}): HardwareFigures['gpus'][number] {
  return { temperatureC: 0, utilPercent: 0, vramUsedBytes: 0, vramTotalBytes: 0, ...fields };
}
