// The findings as text for a terminal.

import type { BenchFindings, LoadFinding, LoadName, PrimitiveFinding } from './findings.ts';

const PRIMITIVES: Readonly<Record<PrimitiveFinding['name'], string>> = {
  sha256_body: 'SHA-256 of a body',
  hmac_sha256: 'HMAC-SHA256 of a token',
  mint_token: 'tokens minted',
  verify_token: 'tokens checked',
};

const LOADS: Readonly<Record<LoadName, string>> = {
  redirect: 'redirects',
  accepted_token: 'accepted tokens',
  served: 'served requests',
  // As the engine sends them, which is all of one at once: what a paced chunk costs stands in docs/performance.md.
  streamed: 'streams sent at once',
};

const NAME_WIDTH = 24;

export function formatFindings(findings: BenchFindings): string {
  const { machine, bodyBytes, recommendation } = findings;
  const { processor, cores, memoryMib, system, runtime } = machine;
  const connections = Math.max(...findings.loads.map((load) => load.connections));
  return [
    `hivenet-router ${findings.version} · ${runtime} · ${system}`,
    `${processor} · ${cores} ${cores === 1 ? 'core' : 'cores'} · ${memoryMib} MiB · bodies of ${bodyBytes} bytes`,
    '',
    'One core, the function alone',
    ...findings.primitives.map(({ name, perSecond }) => row(PRIMITIVES[name], `${count(perSecond)}/s`)),
    '',
    `HTTP on loopback, connections: ${connections}; latencies at half of the highest rate, from when a request was due, in ms`,
    row('', 'most/s', 'at half/s', 'p50', 'p90', 'p99', 'p99.9', 'CPU µs', 'peak MiB'),
    ...findings.loads.map(loadRow),
    ...findings.loads.flatMap(failureLines),
    '',
    recommendation.text,
  ].join('\n');
}

function loadRow({ name, maxPerSecond, atHalf, routerCpuUs, routerPeakMemoryMib }: LoadFinding): string {
  const { p50Ms, p90Ms, p99Ms, p999Ms } = atHalf?.latencies ?? {};
  const latencies = [p50Ms, p90Ms, p99Ms, p999Ms].map((ms) => (ms === undefined ? '–' : ms.toFixed(2)));
  const rates = [count(maxPerSecond), atHalf === null ? '–' : count(atHalf.perSecond)];
  const costs = [routerCpuUs?.toFixed(0) ?? '–', routerPeakMemoryMib?.toFixed(0) ?? '–'];
  return row(LOADS[name], ...rates, ...latencies, ...costs);
}

function failureLines({ name, failed, failure }: LoadFinding): readonly string[] {
  return failed === 0 ? [] : [`  ${failed} ${LOADS[name]} failed, the first by: ${failure}`];
}

function row(name: string, ...cells: readonly string[]): string {
  return `  ${name.padEnd(NAME_WIDTH)}${cells.map((cell) => cell.padStart(10)).join('')}`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}
