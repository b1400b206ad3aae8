// The one table of the router's settings. Reading, `--help`, the README's table and the search for unknown names all go
// over it, so a setting exists when it stands here and not before.

import { ENGINE_NAMES } from '../agents/agent-setting.ts';
import { parseEngineSetting } from '../agents/engine-setting.ts';
import { parseAdminKeys } from '../auth/admin.ts';
import { CLIENT_MODES } from '../auth/auth-file-fields.ts';
import { fault, type Result } from '../lib/result.ts';
import { CAPABILITIES } from '../routing/endpoint.ts';
import { HOLD_SETTINGS } from './hold-settings.ts';
import { LIMIT_SETTINGS } from './limit-settings.ts';
import { parseAllowedDomains, parseOptionalSiteId, parseSecrets } from './parse-redirect-value.ts';
import { bytesWithin, durationWithin, oneOf, parseAddress, parseGoBoolean, parsePath } from './parse-value.ts';
import { PROVIDER_SETTINGS } from './provider-settings.ts';
import { ROUTING_SETTINGS } from './routing-settings.ts';
import type { Setting } from './setting.ts';

export const SETTINGS = {
  httpPort: {
    group: 'Listening',
    flag: '--http-port',
    variable: 'HIVENET_ROUTER_HTTP_PORT',
    argument: 'ADDRESS',
    fallback: ':8080',
    parse: parseAddress,
    example: ':8080',
    help: 'Listen address of the inference and admin API; port 0 takes a free one',
  },
  metricsPort: {
    group: 'Listening',
    flag: '--metrics-port',
    variable: 'HIVENET_ROUTER_METRICS_PORT',
    argument: 'ADDRESS',
    fallback: ':2112',
    parse: parseAddress,
    example: ':2112',
    help: 'Listen address of `/metrics`; port 0 takes a free one',
  },
  tlsCertFile: {
    group: 'Listening',
    flag: '--tls-cert-file',
    variable: 'HIVENET_ROUTER_TLS_CERT_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/tls.crt',
    help: 'Certificate chain in PEM; with it the API is HTTPS. Goes with `--tls-key-file`; SIGHUP reads both again',
  },
  tlsKeyFile: {
    group: 'Listening',
    flag: '--tls-key-file',
    variable: 'HIVENET_ROUTER_TLS_KEY_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/tls.key',
    help: 'Private key of the certificate in PEM. Goes with `--tls-cert-file`',
  },
  maxRequestBytes: {
    group: 'Listening',
    flag: '--max-request-bytes',
    variable: 'HIVENET_ROUTER_MAX_REQUEST_BYTES',
    argument: 'BYTES',
    fallback: '10485760',
    parse: bytesWithin(1, 1_073_741_824),
    example: '10485760',
    help: 'Largest request body, 1 to 1073741824 bytes; that many pass, one more is a 413',
  },
  bodyMemory: {
    group: 'Listening',
    flag: '--body-memory',
    variable: 'HIVENET_ROUTER_BODY_MEMORY',
    argument: 'BYTES',
    fallback: '268435456',
    parse: bytesWithin(33_554_432, 1_099_511_627_776),
    example: '268435456',
    help:
      'Bodies of inference requests held at one time in all, 33554432 to 1099511627776 bytes and at least twice ' +
      '`--max-request-bytes`; beyond, 503 `queue_full`',
  },
  authMode: {
    group: 'Clients',
    flag: '--auth-mode',
    variable: 'HIVENET_ROUTER_AUTH_MODE',
    argument: 'MODE',
    fallback: 'none',
    parse: oneOf(CLIENT_MODES),
    example: 'dynamic',
    help:
      '`none`: everyone may ask. `dynamic`: callers show an API key that `/admin/api-keys` was given. ' +
      '`api-key`: one of the auth file, which then says so itself',
  },
  authConfigFile: {
    group: 'Clients',
    flag: '--auth-config-file',
    variable: 'HIVENET_ROUTER_AUTH_CONFIG',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/auth.yaml',
    help: 'YAML with the mode and, in mode `api-key`, the keys (docs/keys.md); it wins over `--auth-mode`. SIGHUP reads it again',
  },
  adminApiKeys: {
    group: 'Administration',
    variable: 'HIVENET_ROUTER_ADMIN_API_KEYS',
    argument: 'KEYS',
    parse: parseAdminKeys,
    example: '$(openssl rand -hex 32)',
    help: 'Keys that open `/admin`, separated by commas. Required, unless the next setting is true',
    isSecret: true,
  },
  allowInsecureAdmin: {
    group: 'Administration',
    variable: 'HIVENET_ROUTER_ALLOW_INSECURE_ADMIN',
    argument: 'BOOLEAN',
    fallback: 'false',
    parse: parseGoBoolean,
    example: 'true',
    help: 'Starts without admin keys, with `/admin` open to everyone; never with `--auth-mode dynamic`',
  },
  engines: {
    group: 'Engines',
    flag: '--engine',
    variable: 'HIVENET_ROUTER_ENGINES',
    argument: 'ENGINE[:CAPABILITY]=URL[#MODEL,…]',
    parse: parseEngineSetting,
    example: 'vllm=http://10.0.0.5:8000',
    help:
      'An engine to serve from; repeat the flag, separate by blanks in the variable. ' +
      `ENGINE: ${listed(ENGINE_NAMES)}. CAPABILITY: ${listed(CAPABILITIES)}, as the engine can, \`llm\` if left out. ` +
      'Without a MODEL, all that the engine lists',
    isRepeatable: true,
  },
  agentsFile: {
    group: 'Engines',
    flag: '--agents-file',
    variable: 'HIVENET_ROUTER_AGENTS_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/agents.yaml',
    help: 'YAML with `agents:` and a list of agents, beside those of `--engine`; SIGHUP reads it again',
  },
  ...ROUTING_SETTINGS,
  ...PROVIDER_SETTINGS,
  siteId: {
    group: 'Cross-site redirect',
    flag: '--site-id',
    variable: 'HIVENET_ROUTER_SITE_ID',
    argument: 'ID',
    parse: parseOptionalSiteId,
    example: 'site-fr-1',
    help: 'ID of this site in the sibling map. Setting it enables cross-site redirect',
  },
  redirectSecrets: {
    group: 'Cross-site redirect',
    flag: '--redirect-secret-file',
    variable: 'HIVENET_ROUTER_REDIRECT_SECRETS',
    argument: 'FILE',
    parse: parseSecrets,
    example: '/etc/hivenet-router/redirect-secrets',
    variableExample: 'k1:$(openssl rand -hex 32)',
    help:
      'Token signing secrets as `id:secret`: one a line in the file, separated by commas in the variable; the file ' +
      'wins. The first signs, every one verifies. Required with `--site-id`',
    isSecret: true,
  },
  redirectTokenTtl: {
    group: 'Cross-site redirect',
    flag: '--redirect-token-ttl',
    variable: 'HIVENET_ROUTER_REDIRECT_TOKEN_TTL',
    argument: 'DURATION',
    fallback: '60s',
    parse: durationWithin('1ms', '1h'),
    example: '60s',
    help: 'How long a redirect token stays valid, 1ms to 1h',
  },
  redirectAllowedDomains: {
    group: 'Cross-site redirect',
    flag: '--redirect-allowed-domains',
    variable: 'HIVENET_ROUTER_REDIRECT_ALLOWED_DOMAINS',
    argument: 'SUFFIXES',
    parse: parseAllowedDomains,
    example: '.inference.example.com',
    help: 'Host suffixes, separated by commas, that the URL of every sibling must end with. Required with `--site-id`',
  },
  ...HOLD_SETTINGS,
  bodyTimeout: {
    group: 'Time limits',
    flag: '--body-timeout',
    variable: 'HIVENET_ROUTER_BODY_TIMEOUT',
    argument: 'DURATION',
    fallback: '60s',
    parse: durationWithin('1ms', '1h'),
    example: '60s',
    help: 'From the head of a request to the end of its body, 1ms to 1h; then 400, and the connection is closed',
  },
  requestTimeout: {
    group: 'Time limits',
    flag: '--request-timeout',
    variable: 'HIVENET_ROUTER_REQUEST_TIMEOUT',
    argument: 'DURATION',
    fallback: '60s',
    parse: durationWithin('1ms', '24h'),
    example: '60s',
    help: 'From dispatch to the head of a streamed answer, or to the end of any other, 1ms to 24h',
  },
  streamIdleTimeout: {
    group: 'Time limits',
    flag: '--stream-idle-timeout',
    variable: 'HIVENET_ROUTER_STREAM_IDLE_TIMEOUT',
    argument: 'DURATION',
    fallback: '60s',
    parse: durationWithin('1ms', '24h'),
    example: '60s',
    help:
      'Longest silence between two chunks of a streamed answer, 1ms to 24h; also how long a client may take nothing of an ' +
      'answer that is there, before it is cut',
  },
  streamMaxDuration: {
    group: 'Time limits',
    flag: '--stream-max-duration',
    variable: 'HIVENET_ROUTER_STREAM_MAX_DURATION',
    argument: 'DURATION',
    fallback: '0s',
    parse: durationWithin('0s', '168h'),
    example: '1h',
    help: 'Longest time from the first chunk of a streamed answer to its last, up to 168h; 0s does not limit it',
  },
  shutdownDelay: {
    group: 'Shutdown',
    flag: '--shutdown-delay',
    variable: 'HIVENET_ROUTER_SHUTDOWN_DELAY',
    argument: 'DURATION',
    fallback: '0s',
    parse: durationWithin('0s', '1h'),
    example: '5s',
    help: 'How long the router still takes requests after SIGTERM while it reports not ready, 0s to 1h',
  },
  shutdownGrace: {
    group: 'Shutdown',
    flag: '--shutdown-grace',
    variable: 'HIVENET_ROUTER_SHUTDOWN_GRACE',
    argument: 'DURATION',
    fallback: '30s',
    parse: durationWithin('0s', '24h'),
    example: '30s',
    help: 'How long running requests may then still take, 0s to 24h',
  },
  quotaBackend: {
    group: 'Quotas',
    variable: 'HIVENET_ROUTER_QUOTA_BACKEND',
    argument: 'NAME',
    fallback: 'memory',
    parse: parseQuotaBackend,
    example: 'memory',
    help: 'Where the Go router counts quotas; only `memory` is accepted',
  },
  ...LIMIT_SETTINGS,
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

/** The table row by row, in its order. */
export const SETTING_ROWS: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** `api-key` is read like the others, so that its refusal can say why there is none. */
function parseQuotaBackend(text: string): Result<'memory', string> {
  if (text === 'badger') return fault('there is no badger store here: --state-dir keeps daily use over a restart');
  return oneOf(['memory'])(text);
}

/** Names as code, in words of help. */
function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
