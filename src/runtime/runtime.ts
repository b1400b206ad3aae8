// What the router needs of its JavaScript runtime, and nothing more. bun.ts and deno.ts are the only files that name
// theirs; everything else is web standards and node: modules that both have.

/** A certificate chain and its private key, PEM text. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** The client's side of one request, as only the runtime knows it. */
export interface Connection {
  /** IP address of the peer, without port; empty when the runtime cannot tell. */
  readonly remoteAddress: string;
  /**
   * Holds the runtime's idle timeout off, where that could come before `untilMs` from now have passed, when the router has
   * a deadline of its own: while a body is read, and without a number while an engine works. It holds for the connection,
   * so that whoever asks for it ends it.
   */
  allowSilence(untilMs?: number): void;
  /** Arms the idle timeout again: when the body has ended, and before the last byte of the answer. */
  endSilence(): void;
  /** Closes the connection within seconds unless the client takes what was sent: the answer has been broken off. */
  closeSoon(): void;
}

export type Fetch = (request: Request, connection: Connection) => Response | Promise<Response>;

export interface ListenSettings {
  /** Go-style listen address: `:8080`, `127.0.0.1:0`, `[::1]:8080`. Port 0 takes a free one. */
  readonly address: string;
  readonly tls?: TlsIdentity | undefined;
  /**
   * Hard stop of the runtime for request bodies: a 413 without a word. Undefined where whoever reads a body counts its
   * bytes, and says more.
   */
  readonly maxBodyBytes?: number;
  readonly fetch: Fetch;
}

/** One listening socket. */
export interface Listener {
  /** `http://…:port` or `https://…:port`, with the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /**
   * Shows another certificate to every new connection, while running requests end as they began; no connection is
   * refused or reset (E11). Resolves once the one before is out of use; one call at a time. Rejects with an Error that
   * says why it cannot be done, and then nothing has changed.
   */
  renew(tls: TlsIdentity): Promise<void>;
  /** Takes no new connection; resolves when every running request has ended. */
  stop(): Promise<void>;
  /** Ends every connection at once. */
  abort(): void;
}

export interface Runtime {
  readonly name: 'bun' | 'deno';
  /** Opens a listener, or throws an Error whose message says why the address cannot be had. */
  listen(settings: ListenSettings): Listener;
  /** Options for every `fetch` to an engine: bytes as they come, no time limit but ours. */
  readonly engineFetchInit: RequestInit;
}
