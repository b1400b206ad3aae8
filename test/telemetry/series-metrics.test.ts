// What a scrape sees of series is what it would see of prom-client's own metrics.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Histogram, Registry } from 'prom-client';
import { Series } from '../../src/telemetry/series.ts';
import { SeriesCounter, SeriesHistogram } from '../../src/telemetry/series-metrics.ts';

const NAMES = ['owner', 'model'] as const;
const VALUES = [
  ['a', 'm'],
  ['b "quoted"\n', 'm\\n'],
] as const;
const BUCKETS = [0.1, 1, 10];

describe('SeriesCounter', () => {
  it('is written as a Counter of prom-client is', async () => {
    const [theirs, ours] = [new Registry(), new Registry()];
    const counter = new Counter({ name: 'figures', help: 'Of a test', labelNames: NAMES, registers: [theirs] });
    const series = new Series(NAMES, () => ({ value: 0 }));
    new SeriesCounter({ name: 'figures', help: 'Of a test', registers: [ours] }, series, ({ value }) => value);
    for (const [index, values] of VALUES.entries()) {
      counter.labels(...values).inc(index + 1.5);
      series.of(values).value += index + 1.5;
    }
    assert.equal(await ours.metrics(), await theirs.metrics());
    assert.match(await ours.metrics(), /figures\{owner="a",model="m"\} 1\.5\n/);
  });

  it('keeps its constant labels, beyond the bound too', async () => {
    const registry = new Registry();
    const series = new Series(NAMES, () => ({ value: 1 }), 1);
    const family = { name: 'figures', help: 'Of a test', registers: [registry], constant: { phase: 'input' } };
    new SeriesCounter(family, series, ({ value }) => value);
    for (const values of VALUES) series.of(values);
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('figures'));
    assert.deepEqual(lines, [
      'figures{owner="a",model="m",phase="input"} 1',
      'figures{owner="other",model="other",phase="input"} 1',
    ]);
  });

  it('has no line where there is no value yet', async () => {
    const registry = new Registry();
    const series = new Series(NAMES, () => ({ value: 0 }));
    const read = ({ value }: { value: number }) => value || undefined;
    new SeriesCounter({ name: 'figures', help: 'Of a test', registers: [registry] }, series, read);
    const figures = series.of(['a', 'm']);
    assert.doesNotMatch(await registry.metrics(), /^figures/m);
    figures.value = 1;
    assert.match(await registry.metrics(), /^figures\{owner="a",model="m"\} 1$/m);
  });
});

describe('SeriesHistogram', () => {
  it('is written as a Histogram of prom-client is, each bound inclusive', async () => {
    const [theirs, ours] = [new Registry(), new Registry()];
    const family = { name: 'seconds', help: 'Of a test', buckets: BUCKETS };
    const histogram = new Histogram({ ...family, labelNames: NAMES, registers: [theirs] });
    const series = new SeriesHistogram({ ...family, registers: [ours] }, NAMES);
    for (const values of VALUES) {
      for (const seconds of [0, 0.1, 0.10001, 1, 9.5, 10, 10.5, 1_000]) {
        histogram.labels(...values).observe(seconds);
        series.of(values).observe(seconds);
      }
    }
    assert.equal(await ours.metrics(), await theirs.metrics());
    assert.match(await ours.metrics(), /seconds_bucket\{le="0\.1",owner="a",model="m"\} 2\n/);
  });
});
