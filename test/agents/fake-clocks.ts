// Both clocks of an agent, where the test wants them.

import type { AgentClocks } from '../../src/agents/health.ts';

export class FakeClocks implements AgentClocks {
  /** Milliseconds since the test began; the wall clock shows as many since the Unix epoch. */
  elapsedMs = 0;

  readonly nowMs = () => this.elapsedMs;
  readonly monotonicMs = () => this.elapsedMs;
}
