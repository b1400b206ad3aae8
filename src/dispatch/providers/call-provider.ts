// One request to a provider, the last resort of a policy: converted, asked once, and what came back as an attempt that
// dispatch concludes like an engine's. There is no second try and no second provider (routing.md §20).

import type { ModelBody } from '../../routing/inference-request.ts';
import { type Attempt, type ForwardPorts, forward } from '../forward.ts';
import type { RequestLife } from '../request-life.ts';
import type { Target } from '../target.ts';
import { type ConversionPlan, convertRequest, type WayBack } from './conversion.ts';
import { type HeaderSource, type ProviderAccount, providerHeaders, providerPath } from './provider.ts';
import { type ProviderAttempt, readDocument, readEvents } from './provider-answer.ts';
import { failedCall, tellFailure } from './provider-failure.ts';

export interface ProviderRequest extends HeaderSource, ModelBody {
  /** As the provider calls it: the policy's. */
  readonly model: string;
}

/** Whom to ask, and where that is: {@link providerTarget}. */
export interface ProviderSite {
  readonly account: ProviderAccount;
  readonly target: Target;
}

export interface ProviderPorts extends ForwardPorts {
  /** Wall clock: an OpenAI answer tells when it was made. */
  readonly nowMs: () => number;
}

/**
 * Never rejects. What the provider finds against the request (400, 413, 415, 422) is the client's fault; its 401 and 403
 * are the operator's, and like all else a failed attempt. The limits of `life` hold as for an engine, and a client that
 * leaves ends the call (E7, E9).
 */
export async function callProvider(
  request: ProviderRequest,
  { account, target }: ProviderSite,
  ports: ProviderPorts,
  life: RequestLife,
): Promise<ProviderAttempt> {
  const { endpoint, model } = request;
  const { dialect: to, apiKey: secret } = account;
  const plan: ConversionPlan = { from: endpoint.dialect, to, model, secret, nowMs: ports.nowMs() };
  const conversion = convertRequest(request, plan);
  if (!conversion.ok) return { kind: 'unconvertible', message: conversion.fault };
  const { body, back } = conversion.value;
  const call = { path: providerPath(account), headers: providerHeaders(account, request), body };
  const attempt = await forward({ ...call, isAlone: false }, target, ports, life);
  // A kept connection may have ended as the request left: that is no second try (bun.md, fact 6).
  const isLost = attempt.kind === 'disconnected';
  const last = isLost ? await forward({ ...call, isAlone: true }, target, ports, life) : attempt;
  return await readAttempt(last, account, { back, life });
}

async function readAttempt(
  attempt: Attempt,
  account: ProviderAccount,
  { back, life }: { readonly back: WayBack | undefined; readonly life: RequestLife },
): Promise<ProviderAttempt> {
  switch (attempt.kind) {
    case 'cut':
    case 'client_fault':
      return attempt;
    case 'refused':
      return failedCall(account, 'it refuses connections');
    case 'failed':
    case 'disconnected':
      return tellFailure(attempt, account);
    case 'whole':
      return readDocument(attempt, account, back);
    case 'stream':
      return await readEvents(attempt, account, { back, life });
  }
}
