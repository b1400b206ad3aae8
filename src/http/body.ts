// Reads a request body once, into one buffer: under one limit counted in real bytes, by a deadline, within the budget of
// all bodies. The same bytes are hashed, decoded or parsed, and forwarded.

import { createHash } from 'node:crypto';
import type { Timers } from '../agents/timers.ts';
import { RouterError } from '../errors.ts';
import type { Connection } from '../runtime/runtime.ts';
import type { BodyBudget, BodyShare } from './body-budget.ts';
import { type ContentEncoding, decode, readContentEncoding } from './content-encoding.ts';
import { readContentLength } from './content-length.ts';
import { DeclaredBuffer } from './declared-buffer.ts';
import { GrowingBuffer, tooLarge } from './growing-buffer.ts';
import { ReceivedBody } from './received-body.ts';

/** Up to this size a hash is a matter of microseconds, and need not be taken while the body arrives (T-43). */
const HASHED_WHOLE_MAX_BYTES = 65_536;
/** Up to this size a declared body is taken from the budget before it is there, and read in one go. */
const WHOLE_MAX_BYTES = 1_048_576;
/** First size of a buffer for bytes whose number nobody has told. */
const FIRST_BYTES = 16_384;

/** What all bodies share. */
export interface BodyPorts {
  readonly budget: BodyBudget;
  /** A body that is not complete by then is refused (E15). */
  readonly timeoutMs: number;
  readonly timers: Timers;
}

/** One body to be read. */
export interface BodyOrder {
  readonly request: Request;
  readonly connection: Connection;
  /** What is taken from the budget stays there until the request has ended. */
  readonly share: BodyShare;
  /** The limit, for the bytes as received and once more for the decoded ones. */
  readonly maxBytes: number;
  /** Whether its hash will be asked for: then it is taken chunk by chunk. */
  readonly isHashed: boolean;
}

/**
 * The whole body as received, at most `maxBytes`. One byte more is `body_too_large`, whether the length was declared or
 * not; one that is late is `body_timeout`, one that breaks off `request_invalid`, one beyond the budget `queue_full`,
 * one in an unknown encoding `encoding_unsupported`.
 */
export async function readBody(ports: BodyPorts, order: BodyOrder): Promise<ReceivedBody> {
  const { request, connection, maxBytes } = order;
  const encoding = readContentEncoding(request.headers.get('content-encoding'));
  const declared = readContentLength(request.headers.get('content-length'));
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes);
  const wholeMax = order.isHashed ? HASHED_WHOLE_MAX_BYTES : WHOLE_MAX_BYTES;
  const isWhole = declared !== undefined && declared <= wholeMax;
  // The deadline is ours: the runtime's idle timeout would end a silent body without a word.
  connection.allowSilence(ports.timeoutMs);
  try {
    if (isWhole) return new ReceivedBody(await readWhole(ports, order, declared), encoding);
    const { bytes, sha256 } = await readChunks(ports, order, declared);
    return new ReceivedBody(bytes, encoding, sha256);
  } catch (error) {
    if (error instanceof RouterError) throw error;
    if (request.signal.aborted) throw new RouterError('client_gone', 'The client left before its body was complete.');
    throw new RouterError('request_invalid', 'The request body could not be read to its end.', { cause: error });
  } finally {
    connection.endSilence();
  }
}

/** What the body says: the received bytes, or a promise of what they decode to. Throws as {@link readBody} does. */
export function readContent(
  ports: BodyPorts,
  order: BodyOrder,
  { bytes, encoding }: ReceivedBody,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  return encoding === undefined ? bytes : decoded(ports, order, bytes, encoding);
}

async function decoded(
  ports: BodyPorts,
  order: BodyOrder,
  bytes: Uint8Array<ArrayBuffer>,
  encoding: ContentEncoding,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new GrowingBuffer(FIRST_BYTES, limits(ports, order));
  await decode(bytes, encoding, (chunk) => buffer.append(chunk));
  return buffer.content;
}

/** With a declared length the runtime delivers no more than that, and joins it faster than a reader can. */
async function readWhole(ports: BodyPorts, order: BodyOrder, declared: number): Promise<Uint8Array<ArrayBuffer>> {
  ports.budget.take(order.share, declared);
  // When it is late, the answer closes the connection, and that ends the reading.
  const bytes = await inTime(ports, order.request.arrayBuffer());
  if (bytes.byteLength > order.maxBytes) throw tooLarge(order.maxBytes);
  return new Uint8Array(bytes);
}

interface HashedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string | undefined;
}

async function readChunks(ports: BodyPorts, order: BodyOrder, declared: number | undefined): Promise<HashedBytes> {
  const held = limits(ports, order);
  const buffer = declared === undefined ? new GrowingBuffer(FIRST_BYTES, held) : new DeclaredBuffer(declared, held);
  const hash = order.isHashed ? createHash('sha256') : undefined;
  const reader = order.request.body?.getReader();
  const readAll = async (): Promise<void> => {
    for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
      buffer.append(chunk.value);
      hash?.update(chunk.value);
    }
  };
  try {
    await inTime(ports, readAll());
  } catch (error) {
    void reader?.cancel().catch(() => undefined);
    throw error;
  }
  return { bytes: buffer.content, sha256: hash?.digest('hex') };
}

/** What `reading` resolves to, unless the deadline comes first: then `body_timeout`. Leaves no timer behind. */
function inTime<Value>({ timers, timeoutMs }: BodyPorts, reading: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancelDeadline = timers.after(timeoutMs, () => reject(tooLate(timeoutMs)));
    const settle = <Outcome>(tell: (outcome: Outcome) => void, outcome: Outcome): void => {
      cancelDeadline();
      tell(outcome);
    };
    reading.then(
      (value) => settle(resolve, value),
      (error) => settle(reject, error),
    );
  });
}

function limits({ budget }: BodyPorts, { share, maxBytes }: BodyOrder) {
  return { budget, share, maxBytes };
}

function tooLate(timeoutMs: number): RouterError {
  return new RouterError('body_timeout', `The request body was not complete within ${timeoutMs} ms (--body-timeout).`);
}
