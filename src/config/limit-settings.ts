// Settings of what is let in and of what outlives a restart: rows of the one table in settings.ts, which would be too
// long for one file.

import { fault, ok, type Result } from '../lib/result.ts';
import { durationWithin, parsePath, wholeWithin } from './parse-value.ts';
import type { Setting } from './setting.ts';

export const LIMIT_SETTINGS = {
  stateDir: {
    group: 'Administration',
    flag: '--state-dir',
    variable: 'HIVENET_ROUTER_STATE_DIR',
    argument: 'DIRECTORY',
    parse: parsePath,
    example: '/var/lib/hivenet-router',
    help:
      "Directory that keeps daily token use, agents' counters, keys and sibling map over a restart; made if it is missing. " +
      'Without it everything lives in memory',
  },
  admitFraction: {
    group: 'Quotas',
    flag: '--admit-fraction',
    variable: 'HIVENET_ROUTER_ADMIT_FRACTION',
    argument: 'FRACTION',
    fallback: '0.90',
    parse: parseFraction,
    example: '0.90',
    help: "Part of a policy's `admit_budget_tokens` that is given out, above 0 to 1",
  },
  admitParkTimeout: {
    group: 'Quotas',
    flag: '--admit-park-timeout',
    variable: 'HIVENET_ROUTER_ADMIT_PARK_TIMEOUT',
    argument: 'DURATION',
    fallback: '250ms',
    parse: durationWithin('0s', '1m'),
    example: '250ms',
    help: 'How long a request waits for room in that budget, 0s to 1m; 0s refuses at once',
  },
  rpmBurstSeconds: {
    group: 'Quotas',
    flag: '--rpm-burst-seconds',
    variable: 'HIVENET_ROUTER_RPM_BURST_SECONDS',
    argument: 'SECONDS',
    fallback: '0',
    parse: wholeWithin(0, 59),
    example: '10',
    help: "Requests per minute that may come at once: those of 1 to 59 seconds; 0 is a whole minute's",
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

/** A decimal above 0, at most 1. */
function parseFraction(text: string): Result<number, string> {
  const value = /^[0-9]{1,3}(\.[0-9]{1,15})?$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value > 0 && value <= 1 ? ok(value) : fault('not a decimal above 0 and at most 1');
}
