// Reads an answer on its way to the client: the tokens it tells, and whether it came to its own end. It sees every chunk
// and changes none; what it keeps of a stream is bounded, whatever the engine sends.

import { joined, parseText } from '../agents/engine-body.ts';
import type { TokenUse } from '../agents/track-record.ts';
import { latin1Text } from '../lib/latin1.ts';
import type { Dialect } from '../routing/endpoint.ts';
import { saidInEvent, saidTokens } from './seen-text.ts';
import { latestUse, USE_TAIL_BYTES, useOfEvent, useOfTail } from './usage.ts';

/** Bytes of a line that is read; a longer one is passed over, however it is cut into chunks. */
export const LINE_MAX_BYTES = 16_384;
/** A line with `[DONE]` or `message_stop` is short. */
const END_LINE_MAX_BYTES = 128;

const FIELD = 'data:';
const NOTHING = new Uint8Array();

/** Whether an object follows the name: most chunks of a stream say `"usage":null`, and parsing those would be dear. */
const TOLD_USE = /"usage"[ :]*\{/;

/** What an answer has told so far. */
export interface Reading {
  readonly use: TokenUse | undefined;
  /** Whether an event stream has said its dialect's last word; `none` where the format has none. */
  readonly lastWord: 'said' | 'missing' | 'none';
  /** Tokens of output that have passed, estimated; 0 or more. */
  readonly seenTokens: number;
}

export interface Meter {
  /** The next bytes of the body. They are not kept, and not changed. */
  take(chunk: Uint8Array): void;
  /** As in a reading, at any time. */
  readonly seenTokens: number;
  /** Once, at the end, wherever that is. */
  read(): Reading;
}

/** For an answer that is not read: it is encoded. */
export const NO_METER: Meter = {
  take: () => undefined,
  seenTokens: 0,
  read: () => ({ use: undefined, lastWord: 'none', seenTokens: 0 }),
};

/** A document that is passed on in chunks: only its end is read, and no text of it, which vectors have none of. */
export class DocumentMeter implements Meter {
  readonly seenTokens = 0;
  #tail: Uint8Array = NOTHING;

  take(chunk: Uint8Array): void {
    this.#tail = joined([this.#tail, chunk.subarray(-USE_TAIL_BYTES)]).subarray(-USE_TAIL_BYTES);
  }

  read(): Reading {
    return { use: useOfTail(this.#tail), lastWord: 'none', seenTokens: 0 };
  }
}

/** Server-Sent Events, each `data:` line on its own: no engine spreads one document over several. */
export class EventMeter implements Meter {
  readonly #lastWord: RegExp;
  #use: TokenUse | undefined;
  #isLastWordSaid = false;
  #saidBytes = 0;
  /** Events that said something. */
  #saidPieces = 0;
  /** The beginning of a line whose end has not come; empty once it is too long. */
  #begun = '';
  #isTooLong = false;

  constructor(dialect: Dialect) {
    this.#lastWord = dialect === 'anthropic' ? /^data:.*"message_stop"/ : /^data: ?\[DONE\]\s*$/;
  }

  /** A piece at a time, so that no more text than two of them is kept. */
  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; at += LINE_MAX_BYTES) {
      this.#takeText(latin1Text(chunk, at, at + LINE_MAX_BYTES));
    }
  }

  get seenTokens(): number {
    return saidTokens(this.#saidBytes, this.#saidPieces);
  }

  read(): Reading {
    // A last line without its end counts: some engines stop there.
    this.#readLine(this.#begun);
    this.#begun = '';
    return { use: this.#use, lastWord: this.#isLastWordSaid ? 'said' : 'missing', seenTokens: this.seenTokens };
  }

  /** Lines end in LF, CR or both (HTML Standard, "Server-sent events"); what lies between the two is an empty one. */
  #takeText(piece: string): void {
    const text = this.#begun + piece.replaceAll('\r', '\n');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (!this.#isTooLong) this.#readLine(text.slice(start, end));
      this.#isTooLong = false;
      start = end + 1;
    }
    this.#isTooLong ||= text.length - start > LINE_MAX_BYTES;
    this.#begun = this.#isTooLong ? '' : text.slice(start);
  }

  #readLine(line: string): void {
    if (!line.startsWith(FIELD) || line.length > LINE_MAX_BYTES) return;
    if (line.length <= END_LINE_MAX_BYTES && this.#lastWord.test(line)) this.#isLastWordSaid = true;
    this.#noteSaid(saidInEvent(line));
    if (!TOLD_USE.test(line)) return;
    this.#use = latestUse(this.#use, useOfEvent(parseText(line.slice(FIELD.length))));
  }

  #noteSaid(bytes: number): void {
    this.#saidBytes += bytes;
    if (bytes > 0) this.#saidPieces += 1;
  }
}
