// The providers that a policy may fall back on: each is there once it has a key.

import { PROVIDERS, type Provider } from '../policy/policy.ts';
import { parseKeyText } from './parse-provider-value.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

interface ProviderConfig {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Stands in no message. */
  readonly apiKey: string;
}

/** Undefined: no key was given. */
export interface ProvidersConfig {
  readonly openai: ProviderConfig | undefined;
  readonly anthropic: ProviderConfig | undefined;
}

export function readProviders(reader: SettingsReader): ProvidersConfig {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, anthropicBaseUrl } = SETTINGS;
  return {
    openai: provider(readKey(reader, openaiApiKey), reader.read(openaiBaseUrl)),
    anthropic: provider(readKey(reader, anthropicApiKey), reader.read(anthropicBaseUrl)),
  };
}

/** Those that a policy may name as its last resort: they can be asked, because the router has a key of theirs. */
export function keyedProviders(providers: ProvidersConfig): ReadonlySet<Provider> {
  return new Set(PROVIDERS.filter((name) => providers[name] !== undefined));
}

function provider(apiKey: string | undefined, baseUrl: string): ProviderConfig | undefined {
  return apiKey === undefined ? undefined : { baseUrl, apiKey };
}

type KeySetting = typeof SETTINGS.openaiApiKey | typeof SETTINGS.anthropicApiKey;

/** Undefined when there is none, or it was refused. */
function readKey(reader: SettingsReader, setting: KeySetting): string | undefined {
  const given = reader.readOptional(setting);
  if (given === undefined || 'key' in given) return given?.key;
  const text = reader.readFile(setting, given.file, { isPrivate: true });
  const key = text === undefined ? undefined : parseKeyText(text);
  if (key === undefined || key.ok) return key?.value;
  reader.refuseFile(setting, `holds ${key.fault}`, given.file);
  return undefined;
}
