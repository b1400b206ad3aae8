// What one request holds while it is served: its charge, the day's tokens, its place among the requests that run. All of it
// is settled or given back once, whichever way the request ends.

import type { Grant } from '../admission/gates.ts';
import type { RequestEnd } from '../dispatch/request-life.ts';
import { inputUsed, outputUsed, tokenDemand } from '../quota/token-use.ts';
import { quotaError } from './charge.ts';
import type { Arrival } from './entrance.ts';
import { type Measured, measurePrompt } from './measure.ts';
import { enterGates } from './pass-gates.ts';
import type { RouterPorts } from './router-ports.ts';
import type { ChargedRequest, Client } from './serve-here.ts';

/**
 * All that the request needs before it goes to an agent, at once where no limit asks for its size. Rejects with 400, 429
 * and as `enterGates`; then nothing is held but the charge.
 */
export function takeDues(
  ports: RouterPorts,
  arrival: Arrival,
  request: ChargedRequest,
  client: Pick<Client, 'gone' | 'room'>,
): Dues | Promise<Dues> {
  const measuring = client.room?.measured ?? measurePrompt(ports, arrival, request);
  if (measuring === undefined) return new Dues(ports, arrival, request, undefined);
  return takeLimited(ports, arrival, request, { ...client, measuring });
}

async function takeLimited(
  ports: RouterPorts,
  arrival: Arrival,
  request: ChargedRequest,
  { gone: clientGone, room, measuring }: Pick<Client, 'gone' | 'room'> & { measuring: Measured | Promise<Measured> },
): Promise<Dues> {
  const measured = await measuring;
  const grant = await enterGates(ports, arrival, request, { ...measured, clientGone, room: room?.reservation });
  reserveTokens(ports, arrival, request, { ...measured, grant });
  return new Dues(ports, arrival, request, { ...measured, grant });
}

/** A request whose size counts, and what it was let in with. */
type Held = Measured & { readonly grant: Grant };

/** Holds the day's tokens, or throws 429. */
function reserveTokens(
  ports: RouterPorts,
  { record }: Arrival,
  { charge, admitted }: ChargedRequest,
  { prompt, promptTokens, grant }: Held,
): void {
  const demand = tokenDemand(promptTokens, prompt.declaredOutputTokens, prompt.answerCount);
  const refused = charge.reserve(demand, ports.nowMs());
  record.remainingTokens = refused?.remaining ?? charge.remainingTokens();
  if (refused === undefined) return;
  grant.cancel();
  record.remainingRequests = undefined;
  const { owner, keyId } = admitted.caller;
  ports.metrics.limits.tokenLimited({ tenant: owner, keyId });
  const text = refused.isPermanent
    ? 'The request asks for more tokens than this API key has for a whole day.'
    : 'Prompt and output of the request are more than the tokens per day of this API key have left.';
  throw quotaError('token_limit_exceeded', text, refused);
}

export class Dues {
  readonly #ratios: RouterPorts['ratios'];
  readonly #arrival: Arrival;
  readonly #request: ChargedRequest;
  readonly #held: Held | undefined;
  #isReached = false;
  #isHandedOver = false;

  /** Only `takeDues` makes one. `held`: undefined where no limit asks for the request's size. */
  constructor({ ratios }: RouterPorts, arrival: Arrival, request: ChargedRequest, held: Held | undefined) {
    this.#ratios = ratios;
    this.#arrival = arrival;
    this.#request = request;
    this.#held = held;
  }

  /** An agent, or a provider, has had the request: from here on it costs one, however it ends. */
  noteReached(): void {
    this.#isReached = true;
  }

  /** So many tokens of output have passed, estimated. */
  grow(seenTokens: number): void {
    this.#held?.grant.grow(seenTokens);
  }

  /** No agent works for the request any more, whoever may still answer it: their room is free for others. */
  handOver(): void {
    this.#isHandedOver = true;
    if (this.#isReached) this.#held?.grant.release();
    else this.#held?.grant.cancel();
  }

  /** The client was given an answer, and it has ended. */
  settle(end: RequestEnd): void {
    const { charge } = this.#request;
    const { record } = this.#arrival;
    const { use, seenTokens, lastWord } = end.reading;
    // An engine that finds fault with a request has not worked for it.
    const isWork = end.status === 200 || end.status === 499;
    const answer = { use, seenTokens, isFinished: end.outcome === 'complete' && lastWord !== 'missing' };
    const input = inputUsed(this.#promptTokens, answer);
    const output = outputUsed(answer);
    if (isWork && !this.#isHandedOver) this.#toldByAgent(use?.inputTokens ?? 0, output);
    this.#held?.grant.release();
    charge.settle(isWork ? input + output : 0);
    record.remainingTokens = charge.remainingTokens();
    // Whose answer was cut is told, and counted with, what it is charged: its engine never got to say so.
    const isCharged = isWork && end.outcome !== 'complete';
    record.inputTokens = isCharged ? input : use?.inputTokens;
    record.outputTokens = isCharged ? output : use?.outputTokens;
  }

  /**
   * There is no answer, or a finding that is not for the client as it is. A client that left has used its prompt; what the
   * site failed to do uses no tokens. Where nobody had the request the charge stays open, and is given back with the error.
   */
  settleUnanswered({ isClientGone }: { readonly isClientGone: boolean }): void {
    this.handOver();
    if (!this.#isReached) return;
    const { charge } = this.#request;
    const { record } = this.#arrival;
    charge.settle(isClientGone ? this.#promptTokens : 0);
    record.remainingTokens = charge.remainingTokens();
    if (isClientGone) record.inputTokens = this.#promptTokens;
  }

  /** As estimated; 0 where no limit asked for it. */
  get #promptTokens(): number {
    return this.#held?.promptTokens ?? 0;
  }

  /** Nobody had the request, and where it goes is decided again: all but its charge for one request comes back. */
  giveBack(): void {
    this.#held?.grant.cancel();
    this.#request.charge.giveBackTokens();
  }

  #toldByAgent(promptTokens: number, outputTokens: number): void {
    if (this.#held === undefined) return;
    const { grant, prompt } = this.#held;
    grant.chargeOutput(outputTokens);
    if (promptTokens === 0) return;
    grant.correct(promptTokens);
    this.#ratios.learn(this.#request.model, prompt, promptTokens);
  }
}
