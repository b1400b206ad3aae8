// Clients that ask one after another without a pause, half of them for streams, and what each got.

export interface Answered {
  /** By `performance.now()`, of the request's start and its last byte. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly isStream: boolean;
  /** 0 when the connection broke. */
  readonly status: number;
  /** A whole answer, or a stream with its last word. */
  readonly isWhole: boolean;
  /** The mock engine that answered; '' when none did. */
  readonly engine: string;
}

/** Tokens of each answer. */
const TOKENS = 10;

export class Load {
  readonly answered: Answered[] = [];
  readonly #url: string;
  readonly #model: string;
  readonly #clients: readonly Promise<void>[];
  #isOver = false;

  constructor(url: string, model: string, clients: number) {
    this.#url = `${url}/v1/chat/completions`;
    this.#model = model;
    this.#clients = Array.from({ length: clients }, (_, index) => this.#client(index % 2 === 0));
  }

  /** No new requests; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(isStream: boolean): Promise<void> {
    while (!this.#isOver) {
      const startedMs = performance.now();
      const { status, isWhole, engine } = await this.#ask(isStream);
      this.answered.push({ startedMs, endedMs: performance.now(), isStream, status, isWhole, engine });
    }
  }

  async #ask(stream: boolean) {
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = JSON.stringify({ model: this.#model, messages, stream, min_tokens: TOKENS, max_tokens: TOKENS });
    try {
      const answer = await fetch(this.#url, { method: 'POST', body });
      const text = await answer.text();
      const isWhole = answer.status === 200 && (!stream || text.trimEnd().endsWith('data: [DONE]'));
      return { status: answer.status, isWhole, engine: answer.headers.get('x-mock-engine') ?? '' };
    } catch {
      return { status: 0, isWhole: false, engine: '' };
    }
  }
}
