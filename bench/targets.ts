// What the router is meant to cost, each row a ratio or a bound of one run: the table of docs/performance.md. A benchmark
// names the row that its figure answers.

/** A bound with the unit of its figure. */
export interface Target {
  readonly what: string;
  readonly unit: Unit;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** `×`: a ratio within one run. */
export type Unit = '×' | 'ns' | 'ms' | 'KiB' | 'MiB' | '/s';

export const TARGETS = {
  mint1k: { what: 'mint with its body hash over its floor, body of 1 KiB', unit: '×', atMost: 1.3 },
  mint256k: { what: 'mint with its body hash over its floor, body of 256 KiB', unit: '×', atMost: 1.05 },
  verify: { what: 'verify, checks 1 to 6, over one HMAC of the same bytes', unit: '×', atMost: 2 },
  badMac: { what: 'refusal of a bad MAC over one HMAC', unit: '×', atMost: 1.5 },
  choice10: { what: 'choice of site, 10 candidates, over 10 SHA-256 of 80 bytes', unit: '×', atMost: 1.5 },
  choice100: { what: 'choice of site, 100 candidates, over 100 SHA-256 of 80 bytes', unit: '×', atMost: 1.5 },
  choiceLinear: { what: 'choice of site, cost of a candidate among 100 over among 10', unit: '×', atMost: 1.25 },
  ledgerMark: { what: 'ledger mark at 1,000,000 live entries over at 1,000', unit: '×', atMost: 2 },
  ledgerMemory: { what: 'ledger, memory of 1,000,000 entries', unit: 'MiB', atMost: 100 },
  ledgerPause: { what: 'ledger, longest pause while 1,000,000 entries expire', unit: 'ms', atMost: 5 },
  body1m: { what: 'reading and validating 1 MiB of chat over JSON.parse of it', unit: '×', atMost: 1.2 },
  redirectBare: { what: 'redirect over HTTP, throughput over a bare handler', unit: '×', atLeast: 0.65 },
  tokenKey: { what: 'accepted token over HTTP, throughput over an API key', unit: '×', atLeast: 0.85 },
  servedBare: { what: 'served request, throughput over a bare pass-through', unit: '×', atLeast: 0.75 },
  servedDelay: { what: 'served request, added p50 at one connection', unit: 'ms', atMost: 0.25 },
  streamGap: {
    what: '1,000 streams of 50 chunks/s, p99 of gap deviation over a bare pass-through',
    unit: '×',
    atMost: 1.5,
  },
  streamMemory: { what: 'memory of an idle stream', unit: 'KiB', atMost: 40 },
  mapPush: { what: 'longest delay of a request while 20,000 placements are pushed under load', unit: 'ms', atMost: 50 },
  redirectNginx: { what: 'redirect, one core each, throughput over nginx return 307', unit: '×', atLeast: 0.4 },
  servedNginx: { what: 'served request, CPU over nginx proxy_pass', unit: '×', atMost: 3 },
  chunkNginx: { what: 'streamed chunk, CPU over nginx proxy_pass', unit: '×', atMost: 2 },
  start: { what: 'start to first answer', unit: 'ms', atMost: 50 },
  idleMemory: { what: 'idle memory', unit: 'MiB', atMost: 60 },
  binary: { what: 'binary beyond the size of Bun itself', unit: 'MiB', atMost: 5 },
} as const satisfies Record<string, Target>;

export type TargetId = keyof typeof TARGETS;

/** `≤ 1.3 ×`. */
export function formatBound({ unit, atMost, atLeast }: Target): string {
  return atMost === undefined ? `≥ ${atLeast} ${unit}` : `≤ ${atMost} ${unit}`;
}

/** Whether the figure keeps the bound. */
export function isMet({ atMost = Number.POSITIVE_INFINITY, atLeast = 0 }: Target, value: number): boolean {
  return value <= atMost && value >= atLeast;
}
