// The settings of one start, read and checked against each other: either a whole configuration, or every reason why
// there is none. Pure, but for the files that it reads through its port.

import type { AdminAuth } from '../auth/admin.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { readCommandLine } from './command-line.ts';
import { GO_ROUTER_SETTINGS, judgeGoRouterSettings } from './go-router-settings.ts';
import { judgeKeys } from './judge-keys.ts';
import type { PolicyFiles } from './load-policies.ts';
import { type AgentsConfig, readAgents } from './read-agents.ts';
import { type AuthConfig, readAdmin, readClientAuth } from './read-auth.ts';
import { readAuthFile } from './read-auth-file.ts';
import { type HoldConfig, readHold } from './read-hold.ts';
import { type AliasConfig, readModelAliases } from './read-model-aliases.ts';
import { type PolicyConfig, readPolicies } from './read-policies.ts';
import { keyedProviders, type ProvidersConfig, readProviders } from './read-providers.ts';
import { type RedirectConfig, readRedirect } from './read-redirect.ts';
import { readTls, type TlsConfig } from './read-tls.ts';
import { nameOf, quote } from './setting.ts';
import { SETTING_ROWS, SETTINGS } from './settings.ts';
import { type ListDirectory, type ReadFile, SettingsReader } from './settings-reader.ts';

/** Frozen to the last value. Times are whole milliseconds. */
export interface Config {
  readonly http: {
    /** Listen address as in `lib/listen-address.ts`; the same for `metrics`. */
    readonly address: string;
    /** Undefined: plain HTTP. */
    readonly tls: TlsConfig | undefined;
    /** 1 to 1,073,741,824. */
    readonly maxRequestBytes: number;
    /** 33,554,432 to 1,099,511,627,776, and at least twice `maxRequestBytes`. */
    readonly bodyMemoryBytes: number;
  };
  readonly metrics: { readonly address: string };
  readonly auth: AuthConfig;
  readonly admin: AdminAuth;
  /** Undefined: cross-site redirect is off. */
  readonly redirect: RedirectConfig | undefined;
  readonly hold: HoldConfig;
  /** May be empty: a site that only redirects, or is given its agents by pushes. */
  readonly agents: AgentsConfig;
  /** What outlives a restart; undefined: nothing does. */
  readonly stateDir: string | undefined;
  readonly modelAliases: AliasConfig;
  readonly policies: PolicyConfig;
  readonly providers: ProvidersConfig;
  readonly dispatch: {
    /** Requests that may wait for one model, 0 to 100,000. */
    readonly queueDepth: number;
    /** 1 to 100. */
    readonly maxTries: number;
  };
  readonly limits: {
    /** Above 0 to 1. */
    readonly admitFraction: number;
    /** 0 to 60,000. */
    readonly admitParkMs: number;
    /** 0 to 59; 0 is a whole minute. */
    readonly burstSeconds: number;
  };
  readonly timeouts: {
    /** 1 to 3,600,000. */
    readonly bodyMs: number;
    /** 1 to 86,400,000, the next one too. */
    readonly requestMs: number;
    readonly streamIdleMs: number;
    /** 1 to 604,800,000; undefined: no limit. */
    readonly streamMaxMs: number | undefined;
  };
  /** Delay 0 to 3,600,000, grace 0 to 86,400,000. */
  readonly shutdown: { readonly delayMs: number; readonly graceMs: number };
}

export interface ConfigInput {
  /** What stands behind the command, without `--help` and `--version`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  readonly listDirectory: ListDirectory;
}

interface ReadyConfig {
  readonly config: Config;
  /** One line each, for the log at start. */
  readonly warnings: readonly string[];
}

/**
 * Reads flags, variables and defaults, in this order of strength. The fault is every error, at least one, each
 * on one line, and holds no secret and no key.
 */
export function readConfig(input: ConfigInput): Result<ReadyConfig, readonly string[]> {
  const { flags, errors } = readCommandLine(input.args);
  const reader = new SettingsReader({ flags, env: input.env, readFile: input.readFile });
  const config = readGroups(reader, input);
  judgeGoRouterSettings(reader);
  warnOfUnknownVariables(reader, input.env);
  const allErrors = [...errors, ...reader.errors];
  if (config === undefined || allErrors.length > 0) return fault(allErrors);
  freezeData(config);
  return ok({ config, warnings: reader.warnings });
}

/** Undefined when a part without a default was refused; then, as for every refused value, the reader has the errors. */
function readGroups(reader: SettingsReader, files: PolicyFiles): Config | undefined {
  const http = {
    address: reader.read(SETTINGS.httpPort),
    tls: readTls(reader),
    ...readBodySizes(reader),
  };
  const metrics = { address: reader.read(SETTINGS.metricsPort) };
  const authFile = readAuthFile(reader);
  const auth = readClientAuth(reader, authFile);
  const admin = readAdmin(reader, { clientMode: auth?.mode, file: authFile });
  const agents = readAgents(reader);
  const modelAliases = readModelAliases(reader, [...agents.engines, ...agents.fromFile]);
  const providers = readProviders(reader);
  const policies = readPolicies(reader, files, keyedProviders(providers));
  judgeKeys(reader, auth, policies);
  const redirect = readRedirect(reader);
  const hold = readHold(reader, http.maxRequestBytes);
  const dispatch = {
    queueDepth: reader.read(SETTINGS.queueDepth),
    maxTries: reader.read(SETTINGS.maxTriesPerStep),
  };
  const limits = {
    admitFraction: reader.read(SETTINGS.admitFraction),
    admitParkMs: reader.read(SETTINGS.admitParkTimeout),
    burstSeconds: reader.read(SETTINGS.rpmBurstSeconds),
  };
  const timeouts = {
    bodyMs: reader.read(SETTINGS.bodyTimeout),
    requestMs: reader.read(SETTINGS.requestTimeout),
    streamIdleMs: reader.read(SETTINGS.streamIdleTimeout),
    streamMaxMs: reader.read(SETTINGS.streamMaxDuration) || undefined,
  };
  const shutdown = { delayMs: reader.read(SETTINGS.shutdownDelay), graceMs: reader.read(SETTINGS.shutdownGrace) };
  const stateDir = reader.readOptional(SETTINGS.stateDir);
  reader.read(SETTINGS.quotaBackend);
  if (auth === undefined || admin === undefined) return undefined;
  const routing = { agents, modelAliases, policies, providers };
  const limited = { dispatch, limits, hold, timeouts };
  return { http, metrics, auth, admin, redirect, stateDir, ...routing, ...limited, shutdown };
}

/** A body that is encoded is held as sent and decoded: it must fit at least alone, or it would be a 503 for ever. */
function readBodySizes(reader: SettingsReader): Pick<Config['http'], 'maxRequestBytes' | 'bodyMemoryBytes'> {
  const maxRequestBytes = reader.read(SETTINGS.maxRequestBytes);
  const bodyMemoryBytes = reader.read(SETTINGS.bodyMemory);
  if (bodyMemoryBytes < 2 * maxRequestBytes) {
    const rule = `less than twice ${nameOf(SETTINGS.maxRequestBytes)}, which is ${maxRequestBytes}`;
    reader.refuse(SETTINGS.bodyMemory, rule, quote(String(bodyMemoryBytes)));
  }
  return { maxRequestBytes, bodyMemoryBytes };
}

const KNOWN_VARIABLES: ReadonlySet<string> = new Set(
  [...SETTING_ROWS, ...GO_ROUTER_SETTINGS].map((row) => row.variable),
);

/** A misspelt name would else leave its setting at the default, unseen. */
function warnOfUnknownVariables(reader: SettingsReader, env: ConfigInput['env']): void {
  for (const [name, text] of Object.entries(env)) {
    const isUnknown = name.startsWith('HIVENET_ROUTER_') && !KNOWN_VARIABLES.has(name);
    if (isUnknown && text !== undefined && text !== '') reader.warn(quote(name), 'unknown variable, ignored');
  }
}

/** Keys and keyrings guard themselves; what is plain data is frozen here. */
function freezeData(value: unknown): void {
  const isData = Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype);
  if (isData) for (const member of Object.values(Object.freeze(value))) freezeData(member);
}
