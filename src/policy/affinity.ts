// Which agent a session belongs to, so that its prompts meet their cache again: rendezvous hashing over the agents of a
// step. When an agent goes, its own sessions move and no others; when one comes, it takes its share and nothing else moves.

import { createHash, hash } from 'node:crypto';
import { joinPrefixed } from '../lib/lp-bytes.ts';
import { encodeUtf8 } from '../lib/utf8.ts';

const SESSION_PREFIX = encodeUtf8('hivenet-router/agent-session/v1\0');
const AGENT_PREFIX = encodeUtf8('hivenet-router/agent/v1\0');

/**
 * The agent with the largest digest: SHA-256 of the agent's prefix, the SHA-256 of the session with its prefix, and the
 * agent's ID, both length-prefixed. Hashing the session apart bounds what a long one costs. Independent of the order of
 * `agents`; undefined of none. `session` is the raw header value. About half a microsecond an agent.
 */
export function homeAgent<Agent extends { readonly id: string }>(
  session: Uint8Array,
  agents: readonly Agent[],
): Agent | undefined {
  const seed = createHash('sha256')
    .update(joinPrefixed(SESSION_PREFIX, [session]))
    .digest();
  const ranked = agents.map((agent) => ({ agent, digest: agentDigest(seed, agent.id) }));
  return ranked.reduce<(typeof ranked)[number] | undefined>(
    (best, next) => (best === undefined || outranks(next, best) ? next : best),
    undefined,
  )?.agent;
}

interface Ranked {
  readonly agent: { readonly id: string };
  /** Lower-case hex, which sorts as the bytes do. */
  readonly digest: string;
}

function outranks(one: Ranked, other: Ranked): boolean {
  return one.digest === other.digest ? one.agent.id < other.agent.id : one.digest > other.digest;
}

function agentDigest(seed: Uint8Array, id: string): string {
  return hash('sha256', joinPrefixed(AGENT_PREFIX, [seed, id]), 'hex');
}
