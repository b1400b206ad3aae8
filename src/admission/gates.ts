// The admission gates of one request, in their order: B1, B3, B2, the key's share, OTPM, ITPM (api.md §14). What one
// gate has taken is given back when a later one refuses.

import { fault, ok, type Result } from '../lib/result.ts';
import type { Policy } from '../policy/policy.ts';
import type { Entered, NoEntry, Occupancy } from './occupancy.ts';
import type { PoolRoom, Reservation } from './pool.ts';
import { findShedRule, type Pressure } from './pressure-shed.ts';
import type { Prompt } from './prompt.ts';
import { whyTooLarge } from './request-caps.ts';
import type { TokenRates } from './token-rates.ts';

/** Only these are admitted: counting tokens, embedding and reranking are exempt. */
const ADMITTED_PATHS: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/messages']);

export function isAdmitted(path: string): boolean {
  return ADMITTED_PATHS.has(path);
}

/** What admission looks at in a model's policy. */
export type AdmissionPolicy = Pick<Policy, 'mode' | 'limits' | 'shedIf'>;

/** Label of `hivenet_admission_rejections_total`; the quota room counts `b4_rpm`. */
type Gate = 'b1' | 'b2' | 'b3' | 'b4_occupancy' | 'b4_otpm' | 'b4_itpm';

export interface GateRefusal {
  readonly gate: Gate;
  readonly code: 'input_too_long' | 'concurrency_limit_exceeded' | 'rate_limit_exceeded';
  /** For the client. */
  readonly message: string;
  /** Seconds, from 1, before which asking again is of no use; undefined beside the 400 of B1. */
  readonly retryAfterS: number | undefined;
  /** The request can not pass as things are: it has to become smaller, or the site larger. */
  readonly isFutile: boolean;
}

/** The limits of a key that only a serverless policy looks at; 0: no limit. */
interface KeyCaps {
  /** Empty in mode `none`. */
  readonly keyId: string;
  readonly inputTokensPerMinute: number;
  readonly outputTokensPerMinute: number;
  /** Of each pool, 0 to 1. */
  readonly occupancyShare: number;
}

export interface AdmissionRequest {
  readonly model: string;
  readonly prompt: Prompt;
  /** The one estimate of this request (T26). */
  readonly promptTokens: number;
  readonly key: KeyCaps;
  readonly clientGone: AbortSignal;
  /** What B2 has given it already, after {@link awaitRoom}. Whoever has it gives it back when the gates refuse. */
  readonly room?: Reservation | undefined;
}

/** One that waits anyway: it asks for its room before all else. */
export type WaitingRequest = Omit<AdmissionRequest, 'clientGone' | 'room'>;

/** The model's policy and its healthy agents that are capable of the request (A9), as they are at this moment. */
export interface PoolView {
  readonly policy: AdmissionPolicy;
  readonly agents: readonly Pressure[];
}

/** What an admitted request holds. It must be released on every way out, and before a provider is asked. */
export interface Grant extends Reservation {
  /** An engine of this site has answered with so many tokens: the key's output is charged (not for providers). */
  chargeOutput(tokens: number): void;
  /** No agent was reached: the tokens of the prompt come back as well. */
  cancel(): void;
}

export interface GatePorts {
  readonly occupancy: Occupancy;
  readonly inputRates: TokenRates;
  readonly outputRates: TokenRates;
  /** Whole milliseconds that are never set back. */
  readonly monotonicMs: () => number;
}

/** Time in which room can come free, or an engine is asked for its figures again. */
const SHORTLY_S = 1;
/** For a request that does not fit even alone: agents may come, and limits change. */
const FUTILE_S = 60;

/** The grant, or which gate refused. `client_gone`, `closed`: client or router left while the request waited; nothing is held. */
export async function passGates(
  request: AdmissionRequest,
  view: () => PoolView,
  ports: GatePorts,
): Promise<Result<Grant, GateRefusal | 'client_gone' | 'closed'>> {
  const { policy, agents } = view();
  const tooLarge = whyTooLarge(policy.limits, { ...request.prompt, ...request });
  if (tooLarge !== undefined) return fault(refusal('b1', 'input_too_long', tooLarge, undefined));
  const { room } = request;
  if (room === undefined && isShedding({ policy, agents })) {
    return fault(refusal('b3', 'concurrency_limit_exceeded', 'The engines of this model are full.', SHORTLY_S));
  }
  const caps = policy.mode === 'serverless' ? request.key : NO_CAPS;
  const entered = room === undefined ? await enterPool(request, caps, view, ports) : ok(room);
  if (!entered.ok) return fault(noEntry(entered.fault));
  const refused = passTokenRates(request, caps, ports);
  if (refused !== undefined) {
    entered.value.release();
    return fault(refused);
  }
  return ok(grantOf(entered.value, request, caps, ports));
}

/** Gate B3: whether the engines' own figures keep newcomers out. */
export function isShedding({ policy, agents }: PoolView): boolean {
  return findShedRule(policy.shedIf, agents) !== undefined;
}

/**
 * Asks B2 for room, for as long as it takes, and calls `onAnswer` once: before it returns, if there is an answer now.
 * Undefined: B2 refuses the request for another reason than want of room, and `passGates` will say which. What it returns
 * ends the wait.
 */
export function awaitRoom(
  request: WaitingRequest,
  view: () => PoolView,
  { occupancy }: Pick<GatePorts, 'occupancy'>,
  onAnswer: (room: Reservation | undefined) => void,
): () => void {
  const { occupancyShare } = view().policy.mode === 'serverless' ? request.key : NO_CAPS;
  return occupancy.awaitRoom(entryOf(request, occupancyShare, view), (entered) =>
    onAnswer(entered.ok ? entered.value : undefined),
  );
}

const NO_CAPS: Omit<KeyCaps, 'keyId'> = { inputTokensPerMinute: 0, outputTokensPerMinute: 0, occupancyShare: 0 };

type Caps = typeof NO_CAPS;

function enterPool(
  request: AdmissionRequest,
  { occupancyShare }: Caps,
  view: () => PoolView,
  { occupancy }: GatePorts,
): Promise<Entered> {
  return occupancy.enter({ ...entryOf(request, occupancyShare, view), clientGone: request.clientGone });
}

function entryOf({ model, prompt, promptTokens, key }: WaitingRequest, share: number, view: () => PoolView) {
  const footprint = { keyId: key.keyId, promptTokens, declaredOutputTokens: prompt.declaredOutputTokens, share };
  return { model, footprint, room: () => roomOf(view()) };
}

/** What a policy and the agents at hand give a model. */
function roomOf({ policy: { limits }, agents }: PoolView): PoolRoom {
  return { replicas: agents.length, budgetTokens: limits.admitBudgetTokens, maxInflight: limits.maxInflight };
}

function noEntry(why: NoEntry): GateRefusal | 'client_gone' | 'closed' {
  switch (why) {
    case 'client_gone':
    case 'closed':
      return why;
    case 'full':
      return refusal('b2', 'concurrency_limit_exceeded', 'Too many requests for this model are running.', SHORTLY_S);
    case 'never':
      return refusal('b2', 'concurrency_limit_exceeded', NEVER_FITS, undefined);
    case 'share':
      return refusal('b4_occupancy', 'rate_limit_exceeded', SHARE_IS_USED, SHORTLY_S);
  }
}

const NEVER_FITS = 'Prompt and output of the request are more than the engines of this model may hold at once.';
const SHARE_IS_USED = "This key's running requests hold all that it may hold of this model's engines.";

/** Takes the prompt's tokens, last of all. */
function passTokenRates(request: AdmissionRequest, caps: Caps, ports: GatePorts): GateRefusal | undefined {
  const { inputTokensPerMinute: inputLimit, outputTokensPerMinute: outputLimit } = caps;
  const { promptTokens } = request;
  const bucket = bucketOf(request);
  const nowMs = ports.monotonicMs();
  if (outputLimit > 0) {
    const held = ports.outputRates.check(bucket, outputLimit, 1, nowMs);
    if (!held.ok) return rateRefusal('b4_otpm', `${outputLimit} output tokens`, held.fault);
  }
  if (inputLimit > 0 && promptTokens > 0) {
    const held = ports.inputRates.check(bucket, inputLimit, promptTokens, nowMs);
    if (!held.ok) return rateRefusal('b4_itpm', `${inputLimit} input tokens`, held.fault);
    ports.inputRates.take(bucket, inputLimit, promptTokens, nowMs);
  }
  return undefined;
}

function grantOf(reservation: Reservation, request: AdmissionRequest, caps: Caps, ports: GatePorts): Grant {
  const limit = caps.outputTokensPerMinute;
  const bucket = bucketOf(request);
  let isCharged = false;
  let isReleased = false;
  const release = (): void => {
    isReleased = true;
    reservation.release();
  };
  return {
    grow: (outputTokens) => reservation.grow(outputTokens),
    correct: (promptTokens) => reservation.correct(promptTokens),
    release,
    cancel: () => {
      if (!isReleased) giveBackInput(request, caps, ports);
      release();
    },
    chargeOutput: (tokens) => {
      if (isCharged || limit <= 0) return;
      isCharged = true;
      ports.outputRates.take(bucket, limit, Math.min(tokens, limit), ports.monotonicMs());
    },
  };
}

function giveBackInput(request: AdmissionRequest, { inputTokensPerMinute: limit }: Caps, ports: GatePorts): void {
  if (limit > 0) ports.inputRates.take(bucketOf(request), limit, -request.promptTokens, ports.monotonicMs());
}

/** A key's ID and a model may hold any character: the length tells where one ends and the other begins. */
function bucketOf({ key: { keyId }, model }: AdmissionRequest): string {
  return `${keyId.length}:${keyId}${model}`;
}

function rateRefusal(gate: Gate, limit: string, waitMs: number | undefined): GateRefusal {
  const message = `This key may use ${limit} a minute for this model.`;
  const retryAfterS = waitMs === undefined ? undefined : Math.ceil(waitMs / 1_000);
  return refusal(gate, 'rate_limit_exceeded', message, retryAfterS);
}

function refusal(gate: Gate, code: GateRefusal['code'], message: string, waitS: number | undefined): GateRefusal {
  const isFutile = waitS === undefined;
  return { gate, code, message, retryAfterS: gate === 'b1' ? undefined : (waitS ?? FUTILE_S), isFutile };
}
