import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { type HeldCount, HOLD_OUTCOMES, holdMetrics, MODELS_MAX } from '../../src/telemetry/hold-metrics.ts';

function metrics() {
  const registry = new Registry();
  const held: HeldCount[] = [];
  const hold = holdMetrics([registry], () => held);
  const lines = async (name: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return { held, hold, lines };
}

describe('holdMetrics()', () => {
  it('shows who is held now, and 0 of a model once nobody is', async () => {
    const { held, lines } = metrics();
    assert.deepEqual(await lines('hivenet_hold_requests'), []);
    held.push({ model: 'm', held: 2 }, { model: 'n', held: 1 }, { model: 'm', held: 3 });
    assert.deepEqual(await lines('hivenet_hold_requests'), [
      'hivenet_hold_requests{model="m"} 5',
      'hivenet_hold_requests{model="n"} 1',
    ]);
    held.splice(0);
    assert.deepEqual(await lines('hivenet_hold_requests'), [
      'hivenet_hold_requests{model="m"} 0',
      'hivenet_hold_requests{model="n"} 0',
    ]);
  });

  it('has every outcome of a model at 0 from its first hold on', async () => {
    const { held, lines } = metrics();
    held.push({ model: 'm', held: 1 });
    await lines('hivenet_hold_requests');
    assert.deepEqual(
      await lines('hivenet_hold_total'),
      HOLD_OUTCOMES.map((outcome) => `hivenet_hold_total{model="m",outcome="${outcome}"} 0`),
    );
  });

  it('counts how holds ended, and how long they took, but not what was not let in', async () => {
    const { hold, lines } = metrics();
    hold.ended('m', 'served', 20);
    hold.ended('m', 'full', 0);
    const counted = (await lines('hivenet_hold_total')).filter((line) => line.endsWith(' 1'));
    assert.deepEqual(counted, [
      'hivenet_hold_total{model="m",outcome="served"} 1',
      'hivenet_hold_total{model="m",outcome="full"} 1',
    ]);
    assert.deepEqual(await lines('hivenet_hold_seconds_count'), ['hivenet_hold_seconds_count 1']);
    const [within, below] = await Promise.all(
      ['20', '10'].map((le) =>
        lines('hivenet_hold_seconds_bucket').then((all) => all.find((line) => line.includes(`le="${le}"`))),
      ),
    );
    assert.deepEqual(
      [within, below].map((line) => line?.split(' ')[1]),
      ['1', '0'],
    );
  });

  it('counts failed calls from 0 on', async () => {
    const { hold, lines } = metrics();
    assert.deepEqual(await lines('hivenet_wake_webhook_failures_total'), ['hivenet_wake_webhook_failures_total 0']);
    hold.webhookFailed();
    assert.deepEqual(await lines('hivenet_wake_webhook_failures_total'), ['hivenet_wake_webhook_failures_total 1']);
  });

  it(`has series for ${MODELS_MAX} models, and one for all others`, async () => {
    const { hold, held, lines } = metrics();
    for (let model = 0; model < MODELS_MAX; model += 1) hold.ended(`m-${model}`, 'served', 1);
    for (const model of ['one', 'more']) hold.ended(model, 'served', 1);
    held.push({ model: 'one', held: 1 }, { model: 'more', held: 1 }, { model: 'm-0', held: 1 });
    const requests = await lines('hivenet_hold_requests');
    assert.equal(requests.length, MODELS_MAX + 1);
    assert.deepEqual(
      [requests[0], requests.at(-1)],
      ['hivenet_hold_requests{model="m-0"} 1', 'hivenet_hold_requests{model="other"} 2'],
    );
    assert.ok((await lines('hivenet_hold_total')).includes('hivenet_hold_total{model="other",outcome="served"} 2'));
  });
});
