// Requirements that no test shows yet, or not wholly, because what they speak of is not built. Each names the capability
// it waits for; whoever builds that capability takes its lines out.

type Capability = 'holding' | 'audit and traces';

export interface Exemption {
  readonly requirement: string;
  readonly waitsFor: Capability;
  /** What is missing. */
  readonly reason: string;
  /** The rest of it is built, and tests name it; without this no test may. */
  readonly isPartly?: true;
}

export const EXEMPTIONS: readonly Exemption[] = [
  { requirement: 'R-030', waitsFor: 'holding', reason: 'no request is held until its model wakes' },
  {
    requirement: 'R-048',
    waitsFor: 'holding',
    isPartly: true,
    reason: 'the choice says wake_here, but nothing is held then',
  },
  {
    requirement: 'R-136',
    waitsFor: 'holding',
    isPartly: true,
    reason: 'served here and redirected once more; nothing is held',
  },
  {
    requirement: 'R-140',
    waitsFor: 'holding',
    isPartly: true,
    reason: 'at hop 2 nothing is held; the usual errors and a fallback_provider are tested',
  },
  { requirement: 'R-196', waitsFor: 'holding', reason: 'hold_budget is checked and kept, and bounds nothing yet' },
  {
    requirement: 'R-128',
    waitsFor: 'audit and traces',
    isPartly: true,
    reason: 'in answer, access log and engine request; there is no audit log and no trace',
  },
  {
    requirement: 'R-207',
    waitsFor: 'audit and traces',
    isPartly: true,
    reason: 'in no sink that there is; audit log and traces are not among them',
  },
  {
    requirement: 'R-208',
    waitsFor: 'audit and traces',
    isPartly: true,
    reason: 'the access log has these fields; there is no audit log',
  },
  {
    requirement: 'R-209',
    waitsFor: 'audit and traces',
    isPartly: true,
    reason: 'the access logs share the request ID; there is no audit log',
  },
];
