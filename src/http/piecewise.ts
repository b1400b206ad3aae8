// JSON too long to be made in one go, as a response: made turn by turn, and no faster than the client takes it, so that a
// listing of 100,000 models neither stops the router nor lies in its memory as one text.

import type { Context } from 'hono';
import type { ErrorCode } from '../errors.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import { cutWhenStalled } from './cut-stalled.ts';
import { endRecord, logFailure } from './record-request.ts';
import { JSON_HEADERS, jsonText, statusOf, wireCodeOf } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';
import type { Turns } from './turns.ts';

/** Characters that are sent in one go; a text up to here goes out whole, with its length. */
const PART_LENGTH = 65_536;

/** 200 with the text that `pieces` are together, each made in a few milliseconds. Ends the request's record. */
export async function piecewiseResponse(
  ports: RouterPorts,
  c: Context<RouterEnv>,
  pieces: Iterator<string>,
): Promise<Response> {
  const first = await takePart(pieces, ports.turns);
  if (first.isLast) return jsonText(200, first.text);
  if (c.req.method === 'HEAD') return new Response(null, { headers: JSON_HEADERS });
  const { record } = c.env;
  record.streaming = true;
  const end = (code?: ErrorCode, cause?: unknown): void => {
    if (code !== undefined) {
      record.status = statusOf(code);
      record.errorCode = wireCodeOf(code);
    }
    if (code === 'internal_error') logFailure(ports, record, cause);
    endRecord(ports, record);
  };
  const body = partsStream(first, () => takePart(pieces, ports.turns), end);
  return new Response(cutWhenStalled(body, ports.stalls, c.env.connection), { headers: JSON_HEADERS });
}

interface Part {
  readonly text: string;
  readonly isLast: boolean;
}

async function takePart(pieces: Iterator<string>, turns: Turns): Promise<Part> {
  let text = '';
  while (text.length < PART_LENGTH) {
    await turns.pause();
    const piece = pieces.next();
    if (piece.done === true) return { text, isLast: true };
    text += piece.value;
  }
  return { text, isLast: false };
}

/** How the answer ended: undefined when the client took all of it. */
type OnEnd = (code?: 'client_gone' | 'internal_error', cause?: unknown) => void;

/** Sends the first part and then those that `next` makes. `onEnd` is told once, also when `next` fails. */
function partsStream(first: Part, next: () => Promise<Part>, onEnd: OnEnd): ReadableStream {
  let waiting: Part | undefined = first;
  let isLeft = false;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const part = waiting ?? (await next().catch((cause: unknown) => ({ cause })));
    // The client left while the part was made.
    if (isLeft) return;
    waiting = undefined;
    if ('cause' in part) {
      // The head is out: all that is left is to cut the answer, so that nobody takes it for a whole one.
      controller.error(part.cause);
      onEnd('internal_error', part.cause);
      return;
    }
    controller.enqueue(encodeUtf8(part.text));
    if (!part.isLast) return;
    controller.close();
    onEnd();
  };
  const cancel = (): void => {
    isLeft = true;
    onEnd('client_gone');
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
