// Requirements that no test shows yet, or not wholly, because what they speak of is not built. Each names the capability
// it waits for; whoever builds that capability takes its lines out.

type Capability = 'audit and traces';

export interface Exemption {
  readonly requirement: string;
  readonly waitsFor: Capability;
  /** What is missing. */
  readonly reason: string;
  /** The rest of it is built, and tests name it; without this no test may. */
  readonly isPartly?: true;
}

export const EXEMPTIONS: readonly Exemption[] = [
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
