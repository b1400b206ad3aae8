// How large a request is, as far as any limit asks: its prompt is read once, and estimated once, so that every gate and
// the day's budget see one figure (api.md T26). Without a limit nothing is read.

import { type AdmissionPolicy, isAdmitted } from '../admission/gates.ts';
import type { Prompt } from '../admission/prompt.ts';
import { readPrompt } from '../admission/prompt.ts';
import type { KeyQuota } from '../auth/key-quota.ts';
import type { Arrival } from './entrance.ts';
import type { RouterPorts } from './router-ports.ts';
import type { ChargedRequest } from './serve-here.ts';

/** A prompt, and what it is taken for. */
export interface Measured {
  readonly prompt: Prompt;
  /** Tokens, estimated. */
  readonly promptTokens: number;
}

/** Undefined, at once, for an endpoint that no gate holds back, and where there is no limit. */
export function measurePrompt(
  ports: RouterPorts,
  { endpoint }: Arrival,
  { admitted, charge, model, forwarded }: ChargedRequest,
): Promise<Measured> | undefined {
  if (!isAdmitted(endpoint.path)) return undefined;
  const policy = ports.policies.policyFor(model);
  const isLimited = charge.hasTokenLimit || hasGate(policy, admitted.caller.quota);
  return isLimited ? measure(ports, model, forwarded.body) : undefined;
}

async function measure({ turns, ratios }: RouterPorts, model: string, body: Uint8Array): Promise<Measured> {
  const prompt = await turns.complete(readPrompt(body));
  return { prompt, promptTokens: ratios.estimate(model, prompt) };
}

/** Whether any gate of the policy can refuse. A key's share is one of a budget, so that counts for it. */
function hasGate({ limits, shedIf, mode }: AdmissionPolicy, quota: KeyQuota | undefined): boolean {
  if (shedIf.length > 0 || Object.values(limits).some((limit) => limit > 0)) return true;
  return mode === 'serverless' && Boolean(quota?.inputTokensPerMinute || quota?.outputTokensPerMinute);
}
