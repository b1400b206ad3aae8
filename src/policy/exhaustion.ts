// A request that no step could serve: what the operator reads of it, and which code its client gets.

import type { ErrorCode } from '../errors.ts';
import type { StepFinding } from './plan.ts';

/** A long chain of long names: an operator sees where it began. */
export const FINDINGS_MAX_CHARACTERS = 2_000;

/**
 * One line for the log: `routing_policy: match.region=2 exclude_if.srtt=1 | any: capacity=3`. Each
 * count is of agents, at the first gate that held them back. `no agents` when none has the model, `max_tries=3` when
 * that many tries failed. At most {@link FINDINGS_MAX_CHARACTERS}, and `…` where more would follow.
 */
export function describeFindings(findings: readonly StepFinding[]): string {
  const line = findings.map((finding) => `${finding.step.name}: ${reasonOf(finding)}`).join(' | ');
  return line.length > FINDINGS_MAX_CHARACTERS ? `${line.slice(0, FINDINGS_MAX_CHARACTERS).toWellFormed()}…` : line;
}

function reasonOf({ kind, bars, step }: StepFinding): string {
  if (kind === 'spent') return `max_tries=${step.maxTries}`;
  if (bars.size === 0) return 'no agents';
  return [...bars].map(([bar, count]) => `${bar}=${count}`).join(' ');
}

/**
 * The code when no agent was asked (E8): `no_capacity` as soon as one agent lacked nothing but a slot, in whatever
 * company (routing.md §30, 6), else `no_agents_available`, also when gates hold back all of them.
 */
export function exhaustionCode(
  findings: readonly StepFinding[],
): Extract<ErrorCode, 'no_capacity' | 'no_agents_available'> {
  return findings.some(({ kind }) => kind === 'full') ? 'no_capacity' : 'no_agents_available';
}
