// One kept HTTP/1.1 connection that sends requests as bytes and finds where their answers end: as little work as possible,
// since the load process shares the machine with what it measures.

import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** Bytes of one answer that are kept while it comes. */
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  /** Status line and headers, a character a byte. */
  readonly head: string;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Where the answer that is coming in ends: after so many bytes, or with its last chunk. */
interface Coming {
  readonly answer: Answer;
  readonly endsAt: number | 'last chunk';
}

export class LoadConnection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #coming: Coming | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #error: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(port: number): Promise<LoadConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new LoadConnection(socket));
      });
    });
  }

  /** Sends one request and resolves at the last byte of its answer. One at a time. */
  ask(request: Uint8Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size > ANSWER_MAX_BYTES) {
      this.#fail(new Error(`an answer of more than ${ANSWER_MAX_BYTES} bytes`));
      return;
    }
    this.#coming ??= this.#readHead();
    if (this.#coming === undefined || !this.#isWhole(this.#coming)) return;
    const { answer } = this.#coming;
    const waiting = this.#waiting;
    this.#coming = undefined;
    this.#waiting = undefined;
    this.#chunks = [];
    this.#size = 0;
    waiting?.resolve(answer);
  }

  /** Undefined while the head is not there. */
  #readHead(): Coming | undefined {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    const [received] = this.#chunks;
    const end = received?.indexOf(HEAD_END) ?? -1;
    if (received === undefined || end === -1) return undefined;
    const head = received.toString('latin1', 0, end);
    const answer = { status: Number(head.slice(9, 12)), head };
    const [, length] = LENGTH.exec(head) ?? [];
    return { answer, endsAt: length === undefined ? 'last chunk' : end + HEAD_END.length + Number(length) };
  }

  #isWhole({ endsAt }: Coming): boolean {
    return endsAt === 'last chunk' ? this.#lastBytes().equals(LAST_CHUNK) : this.#size >= endsAt;
  }

  /** As many as a last chunk has, wherever the chunks of the socket were cut. */
  #lastBytes(): Buffer {
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length >= LAST_CHUNK.length)
      return (last ?? LAST_CHUNK).subarray(-LAST_CHUNK.length);
    return Buffer.concat(this.#chunks.slice(-LAST_CHUNK.length)).subarray(-LAST_CHUNK.length);
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#waiting?.reject(this.#error);
    this.#waiting = undefined;
    this.#socket.destroy();
  }
}

/** A POST of JSON as bytes; `headers` are whole lines. */
export function postBytes(port: number, target: string, body: Uint8Array, headers: readonly string[]): Buffer {
  const lines = [
    `POST ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${body.byteLength}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}${HEAD_END}`, 'latin1'), body]);
}
