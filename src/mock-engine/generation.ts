// An answer coming into being: its tokens one by one at the engine's pace, for whoever pulls them.

import { RunningRequest, type Turn } from './running-request.ts';
import { type Answer, answerTo, countTokens, type Question } from './text.ts';

/** What a client may ask of an answer, in either dialect. */
export type GenerationAsk = Pick<Question, 'model' | 'prompt' | 'minTokens' | 'maxTokens'>;

export class Generation {
  readonly promptTokens: number;
  readonly #answer: Answer;
  readonly #pace: { readonly ttftMs: number; readonly msPerToken: number };
  readonly #running: RunningRequest;
  #generated = 0;

  /** The clock runs from here on. */
  constructor(turn: Turn, ask: GenerationAsk) {
    const { name, ttftMs, tokensPerSecond } = turn.settings;
    this.promptTokens = countTokens(ask.prompt);
    this.#answer = answerTo({ engine: name, ...ask });
    this.#pace = { ttftMs, msPerToken: tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond };
    this.#running = new RunningRequest(turn, this.promptTokens);
  }

  /** Tokens generated so far. */
  get generatedTokens(): number {
    return this.#generated;
  }

  /** Why the whole answer ends where it ends. */
  get finishReason(): Answer['finishReason'] {
    return this.#answer.finishReason;
  }

  /**
   * The next token's text, when it is due; undefined after the last one and after `abandon`. Due times count from the
   * start, so that a slow timer delays a token and not the pace.
   */
  async next(): Promise<string | undefined> {
    const piece = this.#answer.pieces[this.#generated];
    if (piece === undefined) {
      this.#running.end(this.finishReason);
      return undefined;
    }
    const isDue = await this.#running.waitUntil(this.#pace.ttftMs + this.#generated * this.#pace.msPerToken);
    if (!isDue) return undefined;
    this.#running.countToken();
    this.#generated += 1;
    return piece;
  }

  /** The whole answer at once; what there is of it when the client leaves. */
  async text(): Promise<string> {
    const pieces: string[] = [];
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) pieces.push(piece);
    return pieces.join('');
  }

  get isAbandoned(): boolean {
    return this.#running.endedBy === 'abort';
  }

  /** The client has left: generates nothing more. */
  abandon(): void {
    this.#running.end('abort');
  }
}
