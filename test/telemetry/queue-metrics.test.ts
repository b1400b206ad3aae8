import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { type QueueDepth, queueMetrics } from '../../src/telemetry/queue-metrics.ts';

async function linesOf(registry: Registry, family: string): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(family));
}

describe('queueMetrics()', () => {
  it('reads the depth of every model at each scrape, and drops those that are gone (routing.md §24)', async () => {
    const registry = new Registry();
    let depths: readonly QueueDepth[] = [
      { model: 'a', depth: 0 },
      { model: 'b', depth: 2 },
    ];
    queueMetrics([registry], () => depths);
    assert.deepEqual(await linesOf(registry, 'hivenet_queue_depth'), [
      'hivenet_queue_depth{model="a"} 0',
      'hivenet_queue_depth{model="b"} 2',
    ]);
    depths = [{ model: 'b', depth: 1 }];
    assert.deepEqual(await linesOf(registry, 'hivenet_queue_depth'), ['hivenet_queue_depth{model="b"} 1']);
  });

  it('counts waits in buckets from 10 ms, doubling, to 41 s', async () => {
    const registry = new Registry();
    const { waited } = queueMetrics([registry], () => []);
    waited('a', 0.015);
    const lines = await linesOf(registry, 'hivenet_queue_wait_seconds_bucket');
    assert.deepEqual(
      [lines.length, lines[0], lines[1], lines.at(-2)],
      [
        14,
        'hivenet_queue_wait_seconds_bucket{le="0.01",model="a"} 0',
        'hivenet_queue_wait_seconds_bucket{le="0.02",model="a"} 1',
        'hivenet_queue_wait_seconds_bucket{le="40.96",model="a"} 1',
      ],
    );
  });
});
