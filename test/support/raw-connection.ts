// One TCP connection that sends exactly the bytes a test wants, and shows exactly those that came back. For what no
// HTTP client would send, and for more parallel streams than a runtime's fetch allows.

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Longest wait for bytes or for the peer's close. */
const PATIENCE_MS = 10_000;

export class RawConnection {
  readonly #socket: Socket;
  readonly #waiting = new Set<() => void>();
  #received = '';
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#look();
    });
    const close = (): void => {
      this.#isClosed = true;
      this.#look();
    };
    // A reset is an end like another: tests look at what came before it.
    socket.on('error', close);
    socket.on('close', close);
  }

  /** Connects to a loopback URL; for `https:` with the authority to trust. */
  static async open(url: string, ca?: string): Promise<RawConnection> {
    const { hostname, port, protocol } = new URL(url);
    return new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: Number(port) };
      const onOpen = (): void => resolve(new RawConnection(socket));
      const socket: Socket =
        protocol === 'https:' ? connectTls({ ...where, servername: hostname, ca }, onOpen) : connect(where, onOpen);
      socket.once('error', reject);
    });
  }

  /** Everything received so far, a byte a character. */
  get received(): string {
    return this.#received;
  }

  send(bytes: string | Uint8Array): void {
    if (typeof bytes === 'string') this.#socket.write(bytes, 'latin1');
    else this.#socket.write(bytes);
  }

  /** Resolves with what was received once it matches; rejects when the peer closes first, or after `patienceMs`. */
  until(matches: (received: string) => boolean, patienceMs = PATIENCE_MS): Promise<string> {
    return this.#wait(() => matches(this.#received), patienceMs);
  }

  /** Resolves with all that was received once the peer has closed. */
  closed(patienceMs = PATIENCE_MS): Promise<string> {
    return this.#wait(() => this.#isClosed, patienceMs);
  }

  /** Leaves without a word, as a closed laptop does. */
  leave(): void {
    this.#socket.destroy();
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }

  #wait(isThere: () => boolean, patienceMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        this.#waiting.delete(look);
        clearTimeout(impatience);
        settle();
      };
      const giveUp = (why: string): void =>
        finish(() => reject(new Error(`${why}; received: ${JSON.stringify(this.#received.slice(-500))}`)));
      const look = (): void => {
        if (isThere()) finish(() => resolve(this.#received));
        else if (this.#isClosed) giveUp('Connection closed');
      };
      const impatience = setTimeout(giveUp, patienceMs, `Nothing for ${patienceMs} ms`);
      this.#waiting.add(look);
      look();
    });
  }
}

/** A POST of JSON over HTTP/1.1, as a client would send it; `headers` are whole lines. */
export function postText(url: string, path: string, body: object, headers: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

/** Sends a request whose body breaks off `missing` bytes before its end, once the router has begun to read it. */
export async function breakOff(connection: RawConnection, request: string, missing: number): Promise<void> {
  connection.send(request.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n').slice(0, -missing));
  await connection.until((text) => text.startsWith('HTTP/1.1 100 '));
  connection.leave();
}
