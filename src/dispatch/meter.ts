// Reads an answer on its way to the client: the tokens it tells, and whether it came to its own end. It sees every chunk
// and changes none; what it keeps of a stream is bounded, whatever the engine sends.

import type { Buffer } from 'node:buffer';
import { joined, parseJson } from '../agents/engine-body.ts';
import type { TokenUse } from '../agents/track-record.ts';
import type { Dialect } from '../routing/endpoint.ts';
import { saidInEvent, saidTokens } from './seen-text.ts';
import { asBuffer, latestUse, USAGE_NAME, USE_TAIL_BYTES, useOfEvent, useOfTail } from './usage.ts';

/** Bytes of a line that is read; a longer one is passed over, however it is cut into chunks. */
export const LINE_MAX_BYTES = 16_384;
/** A line with `[DONE]` or `message_stop` is short. */
const END_LINE_MAX_BYTES = 128;

const LF = 0x0a;
const CR = 0x0d;
const BRACE = 0x7b;
const FIELD = 'data:';
const FIRST_OF_DATA = 0x64;
const NOTHING = new Uint8Array();
const BLANKS: readonly (number | undefined)[] = [0x20, 0x3a];

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
  /** The beginning of a line whose end has not come; empty once it is too long, when only its length counts. */
  #begun: Uint8Array = NOTHING;
  #begunBytes = 0;

  constructor(dialect: Dialect) {
    this.#lastWord = dialect === 'anthropic' ? /^data:.*"message_stop"/ : /^data: ?\[DONE\]\s*$/;
  }

  /** Lines end in LF, CR or both (HTML Standard, "Server-sent events"); what lies between the two is an empty one. */
  take(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk);
    let start = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] !== LF && bytes[at] !== CR) continue;
      this.#endLine(bytes.subarray(start, at));
      start = at + 1;
    }
    if (start < bytes.length) this.#begin(bytes.subarray(start));
  }

  get seenTokens(): number {
    return saidTokens(this.#saidBytes, this.#saidPieces);
  }

  read(): Reading {
    // A last line without its end counts: some engines stop there.
    this.#endLine(asBuffer(NOTHING));
    return { use: this.#use, lastWord: this.#isLastWordSaid ? 'said' : 'missing', seenTokens: this.seenTokens };
  }

  #begin(part: Uint8Array): void {
    this.#begunBytes += part.byteLength;
    this.#begun = this.#begunBytes > LINE_MAX_BYTES ? NOTHING : joined([this.#begun, part]);
  }

  #endLine(rest: Buffer): void {
    const isWhole = this.#begunBytes + rest.byteLength <= LINE_MAX_BYTES;
    const line = this.#begunBytes === 0 ? rest : asBuffer(joined([this.#begun, rest]));
    this.#begun = NOTHING;
    this.#begunBytes = 0;
    if (isWhole && line[0] === FIRST_OF_DATA) this.#readLine(line);
  }

  #readLine(line: Buffer): void {
    if (line.length <= END_LINE_MAX_BYTES && this.#lastWord.test(line.toString('latin1'))) this.#isLastWordSaid = true;
    this.#noteSaid(saidInEvent(line));
    if (!tellsUse(line) || line.toString('latin1', 0, FIELD.length) !== FIELD) return;
    this.#use = latestUse(this.#use, useOfEvent(parseJson(line.subarray(FIELD.length))));
  }

  #noteSaid(bytes: number): void {
    this.#saidBytes += bytes;
    if (bytes > 0) this.#saidPieces += 1;
  }
}

/** Whether an object follows the name: most chunks of a stream say `"usage":null`, and parsing those would be dear. */
function tellsUse(line: Buffer): boolean {
  for (let at = line.indexOf(USAGE_NAME); at !== -1; at = line.indexOf(USAGE_NAME, at + 1)) {
    let next = at + USAGE_NAME.length;
    while (BLANKS.includes(line[next])) next += 1;
    if (line[next] === BRACE) return true;
  }
  return false;
}
