// The application log: one line an event on stderr, for the operator's journal. Requests are the access log's.

import type { NowMs } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { redactText } from './redact.ts';

type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a client, or whatever is called for it, can bring about as often as it likes, and how grave it is. */
const RARE_TOPICS = { ledger_full: 'ERROR', cannot_redirect: 'WARN', wake_webhook: 'WARN' } as const;

type RareTopic = keyof typeof RARE_TOPICS;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** At most once a minute for a topic: the first line tells, the others would only fill the disk (D-43, D-45). */
  rarely(topic: RareTopic, message: string, fields?: LogFields): void;
}

const RARELY_MS = 60_000;

/** `write` takes whole lines. Values are JSON, so that nothing a client sent can start a line of its own. */
export function createLog(nowMs: NowMs, write: (line: string) => void): Log {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const pairs = Object.entries(fields).flatMap(([name, value]) =>
        value === undefined ? [] : ` ${name}=${JSON.stringify(value)}`,
      );
      write(`${formatTimestamp(nowMs())} ${level} ${redactText(message + pairs.join(''))}\n`);
    };
  const lastMs = new Map<RareTopic, number>();
  const rarely: Log['rarely'] = (topic, message, fields) => {
    const now = nowMs();
    if (now - (lastMs.get(topic) ?? Number.NEGATIVE_INFINITY) < RARELY_MS) return;
    lastMs.set(topic, now);
    at(RARE_TOPICS[topic])(message, fields);
  };
  return { info: at('INFO'), warn: at('WARN'), error: at('ERROR'), rarely };
}

/** An unknown error as one line for a log field: its name and message, never a stack, a URL or a body. */
export function describeError(error: unknown): string {
  return error instanceof Error ? redactText(`${error.name}: ${error.message}`) : 'unknown error';
}
