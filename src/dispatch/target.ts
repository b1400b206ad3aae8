// Where a request goes, an agent's engine or a provider, and who is to know how that went. Forwarding and answering are
// the same for both, and know no more of either.

import type { Agent } from '../agents/agent.ts';
import type { RequestEnd } from './request-life.ts';
import { trackEnd } from './track.ts';

export interface Target {
  /** What messages call it. */
  readonly kind: 'engine' | 'provider';
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Headers that are added to the call's, if any. */
  readonly credentials: Readonly<Record<string, string>> | undefined;
  /** The key in them: it goes to no client, whatever the answer repeats. */
  readonly secret: string | undefined;
  /** Told of every head that arrives, and after how many milliseconds; status 0: none came, for whatever reason. */
  readonly onHead: (status: number, ms: number) => void;
  /** Told how the answer that the client was given has ended. */
  readonly onEnd: (end: RequestEnd) => void;
}

/** An engine is asked with its agent's own key, if that has one, and the agent's record is told. */
export function engineTarget(agent: Agent): Target {
  const { backendUrl, apiKey } = agent.setting;
  return {
    kind: 'engine',
    baseUrl: backendUrl,
    credentials: apiKey === undefined ? undefined : { authorization: `Bearer ${apiKey}` },
    secret: apiKey,
    // A failure's head says nothing of how fast answers are.
    onHead: (status, ms) => {
      if (status === 200) agent.record.sample(Math.round(ms));
    },
    onEnd: (end) => trackEnd(agent, end),
  };
}
