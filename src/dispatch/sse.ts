// The little of Server-Sent Events that the router itself writes: an error event at the end of a stream that broke, in
// the form that the client's SDK reads (HTML Standard, "Server-sent events"; decisions.md E8).

import { encodeUtf8 } from '../lib/utf8.ts';
import type { Dialect } from '../routing/endpoint.ts';

/** The last three bytes of a stream, the newest lowest: enough to see whether an event is still open. */
export type Tail = number;

/** Of a stream that has not begun. */
export const EMPTY_TAIL: Tail = 0x0a0a;

/** The tail once `chunk` has followed. */
export function followingTail(tail: Tail, chunk: Uint8Array): Tail {
  let next = tail;
  for (let at = Math.max(0, chunk.length - 3); at < chunk.length; at += 1) {
    next = ((next << 8) | (chunk[at] ?? 0)) & 0xffffff;
  }
  return next;
}

/** `body` (one line of JSON) as an event of its own, after a blank line when the last event was cut in the middle. */
export function errorEvent(dialect: Dialect, body: string, tail: Tail): Uint8Array<ArrayBuffer> {
  const start = isBetweenEvents(tail) ? '' : '\n\n';
  const name = dialect === 'anthropic' ? 'event: error\n' : '';
  return encodeUtf8(`${start}${name}data: ${body}\n\n`);
}

/** An empty line has just ended: LF LF, CR CR, or CR LF after a line's end. */
function isBetweenEvents(tail: Tail): boolean {
  const lastTwo = tail & 0xffff;
  return lastTwo === 0x0a0a || lastTwo === 0x0d0d || tail === 0x0a0d0a;
}
