import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AdmissionPolicy,
  type AdmissionRequest,
  type GateRefusal,
  type Grant,
  isAdmitted,
  type PoolView,
  passGates,
} from '../../src/admission/gates.ts';
import { Occupancy } from '../../src/admission/occupancy.ts';
import { TokenRates } from '../../src/admission/token-rates.ts';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { FakeTimers } from '../agents/fake-timers.ts';

const NO_LIMITS = { maxInputTokens: 0, imagesMax: 0, admitBudgetTokens: 0, maxInflight: 0 };
const OPEN: AdmissionPolicy = { mode: 'serverless', limits: NO_LIMITS, shedIf: [] };
const CALM = { kvCacheUse: 0.1, waitingRequests: 0 };

function limited(limits: Partial<AdmissionPolicy['limits']>, more: Partial<AdmissionPolicy> = {}): AdmissionPolicy {
  return { ...OPEN, limits: { ...NO_LIMITS, ...limits }, ...more };
}

interface Asking {
  readonly tokens?: number;
  readonly images?: number;
  readonly declared?: number;
  readonly share?: number;
  readonly itpm?: number;
  readonly otpm?: number;
  readonly keyId?: string;
  readonly model?: string;
}

function gates(policy: AdmissionPolicy, { parkMs = 0 } = {}) {
  const timers = new FakeTimers();
  const ports = {
    occupancy: new Occupancy({ fraction: 1, parkMs, after: (delayMs, run) => timers.after(delayMs, run) }),
    inputRates: new TokenRates(),
    outputRates: new TokenRates(),
    monotonicMs: () => timers.monotonicMs(),
  };
  const now: { view: PoolView } = { view: { policy, agents: [CALM] } };
  const client = new AbortController();
  const ask = (asking: Asking = {}) => passGates(requestOf(asking, client.signal), () => now.view, ports);
  const refusal = async (asking?: Asking): Promise<GateRefusal> => {
    const outcome = await ask(asking);
    if (outcome.ok || typeof outcome.fault === 'string') assert.fail('not refused');
    return outcome.fault;
  };
  const grant = async (asking?: Asking): Promise<Grant> => {
    const outcome = await ask(asking);
    if (!outcome.ok) assert.fail(JSON.stringify(outcome.fault));
    return outcome.value;
  };
  return { timers, ports, now, client, ask, refusal, grant };
}

function requestOf(asking: Asking, clientGone: AbortSignal): AdmissionRequest {
  const { tokens = 10, images = 0, declared = 0, share = 0, itpm = 0, otpm = 0, keyId = 'k', model = 'm' } = asking;
  return {
    model,
    prompt: { textBytes: 1, messageCount: 1, imageCount: images, answerCount: 1, declaredOutputTokens: declared },
    promptTokens: tokens,
    key: { keyId, inputTokensPerMinute: itpm, outputTokensPerMinute: otpm, occupancyShare: share },
    clientGone,
  };
}

describe('isAdmitted()', () => {
  it('exempts counting tokens, embedding and reranking', () => {
    assert.deepEqual(ENDPOINT_PATHS.filter(isAdmitted), ['/v1/chat/completions', '/v1/messages']);
  });
});

describe('passGates()', () => {
  it('lets everything through with a policy that says nothing, and with no healthy agent', async () => {
    const { now, grant } = gates({ ...OPEN, mode: undefined });
    now.view = { ...now.view, agents: [] };
    await grant({ tokens: 1e9, images: 1e6, declared: 1e9, share: 0.1, itpm: 1, otpm: 1 });
  });

  const FULL = { ...CALM, kvCacheUse: 0.99 };
  const SHED = { shedIf: [{ metric: 'kv_cache_utilization', operator: 'gt', value: 0.9 }] } as const;
  for (const [name, policy, asking, expected] of [
    ['B1 by tokens', limited({ maxInputTokens: 9 }), {}, ['b1', 'input_too_long', undefined, true]],
    ['B1 by images', limited({ imagesMax: 1 }), { images: 2 }, ['b1', 'input_too_long', undefined, true]],
    ['B3', limited({}, SHED), {}, ['b3', 'concurrency_limit_exceeded', 1, false]],
    ['B2 for good', limited({ admitBudgetTokens: 9 }), {}, ['b2', 'concurrency_limit_exceeded', 60, true]],
    ['B4 share', limited({ admitBudgetTokens: 90 }), { share: 0.1 }, ['b4_occupancy', 'rate_limit_exceeded', 1, false]],
    ['B4 ITPM for good', OPEN, { itpm: 9 }, ['b4_itpm', 'rate_limit_exceeded', 60, true]],
  ] as const) {
    it(`refuses at ${name}`, async () => {
      const { now, refusal, ports } = gates(policy);
      now.view = { policy, agents: [FULL] };
      const { gate, code, retryAfterS, isFutile } = await refusal(asking);
      assert.deepEqual([gate, code, retryAfterS, isFutile], expected);
      assert.deepEqual(ports.occupancy.held(), []);
    });
  }

  it('refuses at B2 while others run, and lets in the next one when they are over', async () => {
    const { grant, refusal } = gates(limited({ admitBudgetTokens: 100, maxInflight: 5 }));
    const running = await grant({ tokens: 60, declared: 30 });
    const { gate, retryAfterS, isFutile } = await refusal({ tokens: 11 });
    assert.deepEqual([gate, retryAfterS, isFutile], ['b2', 1, false]);
    running.release();
    await grant({ tokens: 11 });
  });

  it('multiplies the budget by the agents at hand when it looks, and by one when there is none', async () => {
    const { grant, refusal, now } = gates(limited({ maxInflight: 1 }));
    now.view = { ...now.view, agents: [] };
    await grant();
    assert.equal((await refusal()).gate, 'b2');
    now.view = { ...now.view, agents: [CALM, CALM] };
    await grant();
    assert.equal((await refusal()).gate, 'b2');
  });

  it('asks the gates in their order', async () => {
    const shut = limited({ maxInputTokens: 9, admitBudgetTokens: 9 }, SHED);
    const { now, refusal } = gates(shut);
    const asking = { itpm: 9, otpm: 1, share: 0.5 };
    const order: string[] = [];
    const policies = [
      shut,
      limited({ admitBudgetTokens: 9 }, SHED),
      limited({ admitBudgetTokens: 9 }),
      limited({ admitBudgetTokens: 18 }),
      limited({ admitBudgetTokens: 180 }),
    ];
    for (const policy of policies) {
      now.view = { policy, agents: [FULL] };
      order.push((await refusal(asking)).gate);
    }
    assert.deepEqual(order, ['b1', 'b3', 'b2', 'b4_occupancy', 'b4_itpm']);
  });

  it('looks at a key only under a serverless policy', async () => {
    const reserved = gates(limited({ admitBudgetTokens: 90 }, { mode: 'reserved' }));
    const grant = await reserved.grant({ share: 0.1, itpm: 1, otpm: 1 });
    grant.chargeOutput(50);
    await reserved.grant({ share: 0.1, itpm: 1, otpm: 1 });
    assert.deepEqual([reserved.ports.inputRates.size, reserved.ports.outputRates.size], [0, 0]);
  });

  it('takes the estimate from the input rate, and tells when it is back', async () => {
    const { grant, refusal, timers } = gates(OPEN);
    await grant({ tokens: 90, itpm: 100 });
    const { gate, retryAfterS, isFutile } = await refusal({ tokens: 40, itpm: 100 });
    assert.deepEqual([gate, retryAfterS, isFutile], ['b4_itpm', 18, false]);
    timers.advance(17_999);
    assert.equal((await refusal({ tokens: 40, itpm: 100 })).retryAfterS, 1);
    timers.advance(1);
    await grant({ tokens: 40, itpm: 100 });
  });

  it('charges output once, at most the limit, and refuses until a token is left', async () => {
    const { grant, refusal, timers } = gates(OPEN);
    const first = await grant({ otpm: 60 });
    first.chargeOutput(500);
    first.chargeOutput(500);
    const { gate, retryAfterS } = await refusal({ otpm: 60 });
    assert.deepEqual([gate, retryAfterS], ['b4_otpm', 1]);
    timers.advance(1_000);
    await grant({ otpm: 60 });
  });

  it('keeps keys and models apart', async () => {
    const { grant } = gates(OPEN);
    for (const other of [{}, { keyId: 'other' }, { model: 'other' }]) await grant({ tokens: 100, itpm: 100, ...other });
  });

  it('keeps them apart whatever characters they hold', async () => {
    const { grant } = gates(OPEN);
    for (const other of [
      { keyId: 'a\0b', model: 'c' },
      { keyId: 'a', model: 'b\0c' },
      { keyId: '1', model: '1:a' },
      { keyId: '11', model: ':a' },
    ]) {
      await grant({ tokens: 100, itpm: 100, ...other });
    }
  });

  it('takes no input tokens for a request that the output rate refuses, and holds nothing', async () => {
    const { grant, refusal, ports } = gates(limited({ admitBudgetTokens: 1_000 }));
    const asking = { tokens: 60, itpm: 100, otpm: 60 };
    const grants = [await grant({ ...asking, tokens: 10 }), await grant({ ...asking, tokens: 10 })];
    for (const one of grants) {
      one.chargeOutput(60);
      one.release();
    }
    assert.equal((await refusal(asking)).gate, 'b4_otpm');
    assert.deepEqual(ports.occupancy.held(), []);
    await grant({ ...asking, otpm: 0, tokens: 80 });
  });

  it('holds nothing when its client leaves while it waits', async () => {
    const { ask, grant, client, ports } = gates(limited({ maxInflight: 1 }), { parkMs: 250 });
    const running = await grant();
    const waiting = ask();
    client.abort();
    assert.deepEqual(await waiting, { ok: false, fault: 'client_gone' });
    running.release();
    assert.deepEqual(ports.occupancy.held(), []);
  });

  it('gives the input tokens back when it is cancelled, and not when it was released before', async () => {
    const { grant, refusal } = gates(OPEN);
    const asking = { tokens: 60, itpm: 100 };
    (await grant(asking)).cancel();
    const running = await grant(asking);
    running.release();
    running.cancel();
    assert.equal((await refusal(asking)).gate, 'b4_itpm');
  });

  it('hands on growth, correction and release', async () => {
    const { grant, ports } = gates(limited({ admitBudgetTokens: 1_000 }));
    const running = await grant({ tokens: 100 });
    running.grow(20);
    running.correct(110);
    assert.equal(ports.occupancy.held()[0]?.tokens, 130);
    running.release();
    assert.deepEqual(ports.occupancy.held(), []);
  });
});
