// Values as the Go router writes them, each with its bounds. The fault is the rule, fit to stand after the value:
// `"1d": not a duration from 1ms to 1h`.

import { durationMs, parseDuration } from '../lib/duration.ts';
import { parseListenAddress } from '../lib/listen-address.ts';
import { fault, ok, type Result } from '../lib/result.ts';

type Parser<Value> = (text: string) => Result<Value, string>;

/** A listen address, kept as text: `:8080`, `127.0.0.1:0`, `[::1]:8080`. Port 0 takes a free one. */
export function parseAddress(text: string): Result<string, string> {
  return parseListenAddress(text).ok ? ok(text) : fault('not a listen address HOST:PORT, the host optional');
}

/** A Go duration within both bounds, which are durations themselves. The value is whole milliseconds. */
export function durationWithin(least: string, most: string): Parser<number> {
  const leastNs = boundNs(least);
  const mostNs = boundNs(most);
  return (text) => {
    const duration = parseDuration(text);
    const isWithin = duration.ok && duration.value >= leastNs && duration.value <= mostNs;
    return isWithin ? ok(durationMs(duration.value)) : fault(`not a duration from ${least} to ${most}`);
  };
}

/** Plain bytes, `least` to `most` (E12). */
export function bytesWithin(least: number, most: number): Parser<number> {
  return (text) => {
    const bytes = /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
    if (bytes === 0) return fault('every body has a bound, so 0 does not switch it off');
    const isWithin = bytes !== undefined && bytes >= least && bytes <= most;
    return isWithin ? ok(bytes) : fault(`not a number of bytes from ${least} to ${most}`);
  };
}

/** A whole number within both bounds. */
export function wholeWithin(least: number, most: number): Parser<number> {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
    const isWithin = value !== undefined && value >= least && value <= most;
    return isWithin ? ok(value) : fault(`not a whole number from ${least} to ${most}`);
  };
}

/** One of a closed list, letter by letter. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parser<Choice> {
  return (text) => {
    const choice = choices.find((known) => known === text);
    return choice === undefined ? fault(`not one of ${choices.join(', ')}`) : ok(choice);
  };
}

/** The path of a file; whether it is there shows when it is read. */
export function parsePath(text: string): Result<string, string> {
  return text === '' ? fault('not the path of a file') : ok(text);
}

const TRUE_WORDS: readonly string[] = ['1', 't', 'T', 'true', 'True', 'TRUE'];
const FALSE_WORDS: readonly string[] = ['0', 'f', 'F', 'false', 'False', 'FALSE'];

/** A boolean as Go's `strconv.ParseBool` reads it. */
export function parseGoBoolean(text: string): Result<boolean, string> {
  if (TRUE_WORDS.includes(text)) return ok(true);
  return FALSE_WORDS.includes(text) ? ok(false) : fault('not a boolean: 1, t, true, 0, f or false');
}

function boundNs(text: string): bigint {
  const bound = parseDuration(text);
  if (!bound.ok) throw new Error(`Cannot use bound "${text}": ${bound.fault}`);
  return bound.value;
}
