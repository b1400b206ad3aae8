// One listening address on Bun: the server behind it and, for a moment after its certificate was renewed, the one
// before.

import type { Server } from 'bun';
import { type ListenAddress, parseListenAddress } from '../lib/listen-address.ts';
import { LINUX_HANDOVER, type ListeningSocket, type PortHandover } from './port-handover.ts';
import type { Connection, Listener, ListenSettings, TlsIdentity } from './runtime.ts';

/**
 * Seconds a silent connection lives: between two requests, in the middle of a head, in the middle of an answer. A body is
 * bounded by `--body-timeout` instead, see `allowSilence` (Bun allows at most 255).
 */
const IDLE_SECONDS = 120;

/** Silences no longer than this the idle timeout lets pass: it starts anew with each byte, and its clock is a coarse one. */
const SILENCE_PASSED_MS = 60_000;

/** How often a stopping listener is asked for its requests; Bun has no event for it. */
const STOP_POLL_MS = 20;

/** How long a replaced listener goes on: its queue runs empty, and its clients are told to close their connections. */
const LEAVING_MS = 1_000;

type BunServer = Server<undefined>;

export class BunListener implements Listener {
  readonly #settings: ListenSettings;
  readonly #address: ListenAddress;
  readonly #handover: PortHandover;
  /** Whether a second server may listen beside the first: needed to renew the certificate, and for nothing else. */
  #isShared = false;
  #current: BunServer;
  /** Replaced servers whose last answers are under way. */
  readonly #leaving = new Set<BunServer>();

  /** Opens the address. Throws an Error that says why it cannot be had. */
  constructor(settings: ListenSettings, handover: PortHandover = LINUX_HANDOVER) {
    const address = parseListenAddress(settings.address);
    if (!address.ok) throw new Error(address.fault);
    this.#settings = settings;
    this.#address = address.value;
    this.#handover = handover;
    this.#current = this.#open(address.value.port, settings.tls);
    if (settings.tls !== undefined && this.#sockets().length > 0) this.#share(settings.tls);
  }

  get url(): string {
    const scheme = this.#settings.tls === undefined ? 'http' : 'https';
    return `${scheme}://${urlHost(this.#address.hostname)}:${this.port}`;
  }

  get port(): number {
    return this.#current.port ?? 0;
  }

  async renew(tls: TlsIdentity): Promise<void> {
    if (!this.#isShared) throw new Error('this system cannot hand a port over: restart the router instead');
    const before = this.#sockets();
    const next = this.#open(this.port, tls);
    try {
      const fresh = this.#sockets().find((socket) => before.every(({ inode }) => inode !== socket.inode));
      if (fresh === undefined) throw new Error('the new listener is not listed by the system');
      this.#handover.steerToLast(fresh);
    } catch (error) {
      // As a plain second listener it would take half of the connections, and lose some of them when one closes.
      await next.stop(true);
      throw error;
    }
    const replaced = this.#current;
    this.#current = next;
    this.#leaving.add(replaced);
    await new Promise((resolve) => setTimeout(resolve, LEAVING_MS));
    void ended(replaced).then(() => this.#leaving.delete(replaced));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#leaving, this.#current].map(ended));
  }

  abort(): void {
    for (const server of [...this.#leaving, this.#current]) void server.stop(true);
  }

  #open(port: number, tls: TlsIdentity | undefined): BunServer {
    const { hostname } = this.#address;
    const { maxBodyBytes = Number.MAX_SAFE_INTEGER, fetch } = this.#settings;
    return Bun.serve({
      port,
      ...(hostname === undefined ? {} : { hostname }),
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key } }),
      development: false,
      // `development: false` would turn it on, and two routers with two ledgers would share one port unseen.
      reusePort: this.#isShared,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: maxBodyBytes,
      fetch: (request: Request, server: BunServer) => {
        const answer = fetch(request, new BunConnection(request, server));
        return server === this.#current ? answer : closing(answer);
      },
    });
  }

  /**
   * Opens the port, which is ours alone until here, once more so that it can be shared. Whoever takes the moment in
   * between to do the same is another router, with another ledger: both refuse.
   */
  #share(tls: TlsIdentity): void {
    const { port } = this;
    void this.#current.stop(true);
    this.#isShared = true;
    this.#current = this.#open(port, tls);
    const addresses = this.#sockets().map(({ address }) => address);
    if (new Set(addresses).size === addresses.length) return;
    void this.#current.stop(true);
    throw Object.assign(new Error('another process listens there'), { code: 'EADDRINUSE' });
  }

  #sockets(): readonly ListeningSocket[] {
    return this.#handover.listeningSockets(this.port);
  }
}

/** The answer of a server that is being replaced ends its connection: the client's next one meets the new server. */
async function closing(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set('connection', 'close');
  return response;
}

/** Takes no new connection; resolves when the last byte of the last answer has been sent. */
async function ended(server: BunServer): Promise<void> {
  await Promise.race([server.stop(), noRequestLeft(server)]);
}

/**
 * `stop()` alone would wait for TLS connections that clients keep without a request, and for half a request head.
 */
function noRequestLeft(server: BunServer): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (server.pendingRequests === 0) resolve();
      else setTimeout(look, STOP_POLL_MS);
    };
    look();
  });
}

class BunConnection implements Connection {
  readonly #request: Request;
  readonly #server: BunServer;
  #isSilenceAllowed = false;

  constructor(request: Request, server: BunServer) {
    this.#request = request;
    this.#server = server;
  }

  get remoteAddress(): string {
    return this.#server.requestIP(this.#request)?.address ?? '';
  }

  allowSilence(untilMs = Number.POSITIVE_INFINITY): void {
    if (untilMs <= SILENCE_PASSED_MS) return;
    this.#isSilenceAllowed = true;
    this.#server.timeout(this.#request, 0);
  }

  endSilence(): void {
    if (!this.#isSilenceAllowed) return;
    this.#isSilenceAllowed = false;
    this.#server.timeout(this.#request, IDLE_SECONDS);
  }

  closeSoon(): void {
    this.#server.timeout(this.#request, 1);
  }
}

function urlHost(hostname: string | undefined): string {
  if (hostname === undefined) return 'localhost';
  return hostname.includes(':') ? `[${hostname}]` : hostname;
}
