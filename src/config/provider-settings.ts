// The rows of the settings table for the providers that a policy may name as its last resort.

import { parseProviderKey, parseProviderUrl } from './parse-provider-value.ts';
import type { Setting } from './setting.ts';

export const PROVIDER_SETTINGS = {
  openaiApiKey: {
    group: 'Providers',
    flag: '--openai-api-key-file',
    variable: 'HIVENET_ROUTER_OPENAI_API_KEY',
    argument: 'FILE',
    parse: parseProviderKey,
    example: '/etc/hivenet-router/openai-api-key',
    variableExample: 'sk-0123456789abcdef',
    help: 'Key that OpenAI is asked with: in the file, or itself in the variable; the file wins',
    isSecret: true,
  },
  openaiBaseUrl: {
    group: 'Providers',
    flag: '--openai-base-url',
    variable: 'HIVENET_ROUTER_OPENAI_BASE_URL',
    argument: 'URL',
    fallback: 'https://api.openai.com/v1',
    parse: parseProviderUrl,
    example: 'https://api.openai.com/v1',
    help: 'Where OpenAI is asked, `/chat/completions` is appended. https, or http on a loopback address',
  },
  anthropicApiKey: {
    group: 'Providers',
    flag: '--anthropic-api-key-file',
    variable: 'HIVENET_ROUTER_ANTHROPIC_API_KEY',
    argument: 'FILE',
    parse: parseProviderKey,
    example: '/etc/hivenet-router/anthropic-api-key',
    variableExample: 'sk-ant-0123456789abcdef',
    help: 'Key that Anthropic is asked with: in the file, or itself in the variable; the file wins',
    isSecret: true,
  },
  anthropicBaseUrl: {
    group: 'Providers',
    flag: '--anthropic-base-url',
    variable: 'HIVENET_ROUTER_ANTHROPIC_BASE_URL',
    argument: 'URL',
    fallback: 'https://api.anthropic.com',
    parse: parseProviderUrl,
    example: 'https://api.anthropic.com',
    help: 'Where Anthropic is asked, `/v1/messages` is appended. https, or http on a loopback address',
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;
