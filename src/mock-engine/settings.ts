// What an operator may set on a mock engine: one table with each flag's default, rule, example and parser, from which
// read-settings.ts takes values, errors and help alike.

import { durationMs, parseDuration } from '../lib/duration.ts';
import { parseListenAddress } from '../lib/listen-address.ts';

/** Which endpoints an engine has; the words of the router's `--engine ENGINE:CAPABILITY=URL`. */
const CAPABILITIES = ['llm', 'embedding', 'reranker'] as const;

export type Capability = (typeof CAPABILITIES)[number];

export interface MockEngineSettings {
  /** `host:port`; port 0 takes a free one. */
  readonly address: string;
  /** Stands in every generated answer and in the header `x-mock-engine`. */
  readonly name: string;
  /** 1 to 100 names, each once. */
  readonly models: readonly string[];
  readonly capability: Capability;
  /** Pace after the first token, 0 to 1,000,000; 0 is as fast as possible. */
  readonly tokensPerSecond: number;
  /** Time from a request's last byte to its first token, or to its whole answer where there are no tokens. */
  readonly ttftMs: number;
  /** How long the engine answers 503 after its start, as if it were loading weights. */
  readonly startDelayMs: number;
  /** Share of inference requests that answer 500, 0 to 1. */
  readonly errorRate: number;
}

/** One row of the table. */
export interface Flag<Value> {
  readonly name: string;
  readonly placeholder: string;
  readonly meaning: string;
  /** As text, read like any other value; undefined when the flag must be given. */
  readonly fallback: string | undefined;
  /** Completes "must be …". */
  readonly rule: string;
  /** A value that works. */
  readonly example: string;
  /** Undefined when the text breaks the rule. */
  readonly parse: (text: string) => Value | undefined;
}

type FlagTable = { readonly [Name in keyof MockEngineSettings]: Flag<MockEngineSettings[Name]> };

export const FLAGS: FlagTable = {
  address: {
    name: 'port',
    placeholder: 'ADDRESS',
    meaning: 'where to listen; a bare port is one on 127.0.0.1, port 0 takes a free one',
    fallback: '127.0.0.1:8000',
    rule: 'host:port, :port or a port, 0 to 65535',
    example: ':8000',
    parse: parseAddress,
  },
  name: {
    name: 'name',
    placeholder: 'NAME',
    meaning: 'what the engine calls itself in answers and in the header x-mock-engine',
    fallback: 'mock-engine',
    rule: '1 to 64 of A-Z a-z 0-9 . _ -',
    example: 'gpu-1',
    parse: (text) => (/^[A-Za-z0-9._-]{1,64}$/.test(text) ? text : undefined),
  },
  models: {
    name: 'models',
    placeholder: 'NAME[,NAME…]',
    meaning: 'models it serves',
    fallback: undefined,
    rule: '1 to 100 names, separated by commas, without blanks, each once',
    example: 'llama-3-8b,llama-3-70b',
    parse: parseModels,
  },
  capability: {
    name: 'capability',
    placeholder: CAPABILITIES.join('|'),
    meaning: 'which endpoints it has',
    fallback: 'llm',
    rule: `one of ${CAPABILITIES.join(', ')}`,
    example: 'embedding',
    parse: (text) => CAPABILITIES.find((capability) => capability === text),
  },
  tokensPerSecond: {
    name: 'tokens-per-second',
    placeholder: 'NUMBER',
    meaning: 'pace of an answer after its first token; 0 is as fast as possible',
    fallback: '0',
    rule: 'a number from 0 to 1000000',
    example: '40',
    parse: (text) => parseNumber(text, 1_000_000),
  },
  ttftMs: {
    name: 'ttft',
    placeholder: 'DURATION',
    meaning: 'time to the first token, or to the answer of embedding and rerank',
    fallback: '0s',
    rule: 'a duration from 0s to 24h',
    example: '250ms',
    parse: parseDelay,
  },
  startDelayMs: {
    name: 'start-delay',
    placeholder: 'DURATION',
    meaning: 'answers 503 for that long after its start',
    fallback: '0s',
    rule: 'a duration from 0s to 24h',
    example: '90s',
    parse: parseDelay,
  },
  errorRate: {
    name: 'error-rate',
    placeholder: 'SHARE',
    meaning: 'share of inference requests that answer 500',
    fallback: '0',
    rule: 'a number from 0 to 1',
    example: '0.05',
    parse: (text) => parseNumber(text, 1),
  },
};

/** Above it a timer would overflow (at 24.8 days) and no test would want to wait. */
const DELAY_MAX_MS = 86_400_000;

function parseAddress(text: string): string | undefined {
  const address = /^[0-9]+$/.test(text) ? `127.0.0.1:${text}` : text;
  return parseListenAddress(address).ok ? address : undefined;
}

function parseModels(text: string): readonly string[] | undefined {
  const models = text.split(',').map((name) => name.trim());
  const areNames = models.every((name) => /^\S{1,256}$/.test(name));
  return areNames && models.length <= 100 && new Set(models).size === models.length ? models : undefined;
}

function parseNumber(text: string, max: number): number | undefined {
  if (!/^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

function parseDelay(text: string): number | undefined {
  const duration = parseDuration(text);
  if (!duration.ok || duration.value < 0n) return undefined;
  const milliseconds = durationMs(duration.value);
  return milliseconds <= DELAY_MAX_MS ? milliseconds : undefined;
}
