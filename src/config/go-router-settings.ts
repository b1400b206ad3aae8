// Settings of the Go router that set nothing here. They are known by name, so that an operator who moves over reads what
// becomes of each one (E12).

import { type NamedSetting, nameOf } from './setting.ts';
import type { SettingsReader } from './settings-reader.ts';

interface GoRouterSetting extends NamedSetting {
  /** The flag takes no value. */
  readonly isSwitch?: true;
  readonly reason: string;
}

const WITHOUT_EFFECT = { reason: 'does nothing, this router has no gRPC, p2p or disk store' } as const;

const BOUND_BY_AGENTS = {
  reason: 'does nothing, what runs is bounded by the capacity of the agents, and what waits by --queue-depth',
} as const;

const NOT_YET = { reason: 'not supported yet, ignored' } as const;

export const GO_ROUTER_SETTINGS: readonly GoRouterSetting[] = [
  { ...named('grpc-port'), ...WITHOUT_EFFECT },
  { ...named('p2p-port'), ...WITHOUT_EFFECT },
  { ...named('p2p-listen-addr'), ...WITHOUT_EFFECT },
  { ...named('p2p-announce-addr'), ...WITHOUT_EFFECT },
  { ...named('p2p-max-conns-per-ip'), ...WITHOUT_EFFECT },
  { ...named('session-ttl'), ...WITHOUT_EFFECT },
  { ...named('jwt-secret-file'), variable: 'HIVENET_ROUTER_JWT_SECRET', ...WITHOUT_EFFECT },
  { ...named('disk-db-path'), ...WITHOUT_EFFECT },
  { ...named('disk-db-ttl'), ...WITHOUT_EFFECT },
  { ...named('universal-flush-interval'), ...WITHOUT_EFFECT },
  { ...named('reset-disk-db'), isSwitch: true, ...WITHOUT_EFFECT },
  { ...named('queue-size'), ...BOUND_BY_AGENTS },
  { ...named('max-concurrent'), ...BOUND_BY_AGENTS },
  { ...named('health-check-interval'), ...NOT_YET },
  { ...named('heartbeat-interval'), ...NOT_YET },
  { ...named('unhealthy-after'), ...NOT_YET },
  { ...named('remove-after'), ...NOT_YET },
  { ...named('audit-log-path'), ...NOT_YET },
];

/** The flag, and the variable by the rule that holds for all that have no other: the flag in capitals (E12). */
function named(name: string): Required<NamedSetting> {
  return { flag: `--${name}`, variable: `HIVENET_ROUTER_${name.replaceAll('-', '_').toUpperCase()}` };
}

/** One warning for each of them that is set, by flag or variable. */
export function judgeGoRouterSettings(reader: SettingsReader): void {
  for (const setting of GO_ROUTER_SETTINGS) {
    if (reader.given(setting) !== undefined) reader.warn(nameOf(setting), setting.reason);
  }
}
