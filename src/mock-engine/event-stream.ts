// A generation as server-sent events. A token is made when the client's side has room for it: a slow client holds the
// engine back, and one that leaves stops it.

import type { Generation } from './generation.ts';

/** One dialect's events, each a whole text with its blank lines. */
export interface EventScript {
  /** Sent together with the first token, so that a client's first byte is the engine's. */
  readonly opening: () => string;
  readonly token: (text: string) => string;
  readonly closing: () => string;
}

/** The streaming answer: 200, `text/event-stream`. */
export function streamEvents(generation: Generation, script: EventScript): Response {
  const encoder = new TextEncoder();
  let opening = script.opening;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await generation.next();
        if (generation.isAbandoned) return controller.error(new Error('The client left'));
        const event = piece === undefined ? script.closing() : script.token(piece);
        controller.enqueue(encoder.encode(opening() + event));
        opening = () => '';
        if (piece === undefined) controller.close();
      },
      cancel: () => generation.abandon(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  });
}

/** `data: …`, with an `event: …` line before it where the dialect names its events. */
export function eventText(data: string, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`;
}
