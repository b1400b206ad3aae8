// The command line of `bench`: arguments to options, or to every mistake in them at once.

import { parseArgs } from 'node:util';
import { durationMs, parseDuration } from '../lib/duration.ts';
import { fault, ok, type Result } from '../lib/result.ts';

export interface BenchOptions {
  /** One document on stdout in place of text. */
  readonly isJson: boolean;
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Of all measuring together, without starting and ending. */
  readonly durationMs: number;
}

const QUICK_MS = 20_000;
const FULL_MS = 120_000;
const DURATION_MIN_MS = 1_000;
const DURATION_MAX_MS = 3_600_000;
const BODY_DEFAULT_BYTES = 1_024;
/** The shortest that a request fits into, and what a router takes by default. */
const BODY_MIN_BYTES = 128;
const BODY_MAX_BYTES = 10_485_760;

export const BENCH_HELP = `Usage: hivenet-router bench [OPTIONS]

Measures what this machine carries: hashing, signing and checking of tokens, then
redirects, accepted tokens, served and streamed requests over HTTP on loopback. It
starts two routers, a mock engine and a load process of this binary, on free ports
and with settings of their own, and ends them. It reads and writes no files.

Options:
  --quick           20 seconds instead of 2 minutes
  --duration TIME   all measuring together, a Go duration from 1s to 1h
  --body BYTES      size of a request's body, ${BODY_MIN_BYTES} to ${BODY_MAX_BYTES} (default ${BODY_DEFAULT_BYTES})
  --json            one JSON document instead of text
  --help            this text

The load process is this binary too: hivenet-router bench load reads jobs on stdin.`;

/** Reads the arguments after the command's name. The fault is one line for each mistake. */
export function readBenchOptions(args: readonly string[]): Result<BenchOptions | 'help', readonly string[]> {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      duration: { type: 'string' },
      body: { type: 'string' },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values.help === true) return ok('help');
  const known = new Set(['quick', 'json', 'duration', 'body']);
  const unknown = tokens.flatMap((token) => (token.kind === 'option' && !known.has(token.name) ? [token.rawName] : []));
  const mistakes = [...unknown, ...positionals].map(
    (text) => `bench does not know "${text}" (hivenet-router bench --help)`,
  );
  const flags = [values.quick, values.json].some((value) => typeof value === 'string');
  if (flags) mistakes.push('--quick and --json take no value');
  const timeMs = values.duration === undefined ? defaultMs(values.quick === true) : readTime(values.duration);
  if (timeMs === undefined)
    mistakes.push(`--duration ${shown(values.duration)}: must be a duration from 1s to 1h, such as 30s`);
  const bodyBytes = values.body === undefined ? BODY_DEFAULT_BYTES : readBytes(values.body);
  if (bodyBytes === undefined) {
    mistakes.push(
      `--body ${shown(values.body)}: must be bytes from ${BODY_MIN_BYTES} to ${BODY_MAX_BYTES}, such as 32768`,
    );
  }
  if (mistakes.length > 0 || timeMs === undefined || bodyBytes === undefined) return fault(mistakes);
  return ok({ isJson: values.json === true, bodyBytes, durationMs: timeMs });
}

/** An option at the end of the line has no value. */
function shown(value: string | boolean | undefined): string {
  return typeof value === 'string' ? `"${value}"` : 'without a value';
}

function defaultMs(isQuick: boolean): number {
  return isQuick ? QUICK_MS : FULL_MS;
}

function readTime(text: string | boolean): number | undefined {
  const duration = parseDuration(String(text));
  if (!duration.ok) return undefined;
  const timeMs = durationMs(duration.value);
  return timeMs >= DURATION_MIN_MS && timeMs <= DURATION_MAX_MS ? timeMs : undefined;
}

function readBytes(text: string | boolean): number | undefined {
  const bytes = /^[0-9]{1,9}$/.test(String(text)) ? Number(text) : Number.NaN;
  return bytes >= BODY_MIN_BYTES && bytes <= BODY_MAX_BYTES ? bytes : undefined;
}
