import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { BenchFindings } from '../../src/bench/findings.ts';
import { BARE_ENV, BINARY, run, start } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';

/** An empty folder, which is home too. */
const FOLDER = mkdtempSync(join(tmpdir(), 'hivenet-router-bench-'));
const ENV = { ...BARE_ENV, HOME: FOLDER, HIVENET_ROUTER_HTTP_PORT: 'not an address' };

after(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('hivenet-router bench', () => {
  it('measures functions and HTTP with this binary alone, in any folder, whatever the environment sets', async () => {
    const bench = start([BINARY, 'bench', '--duration', '2s', '--json', '--body', '2048'], ENV, FOLDER);
    assert.equal(await bench.ended, 0, bench.stderr.join('\n'));
    const found = JSON.parse(bench.stdout.join('\n')) as BenchFindings;
    assert.deepEqual([found.bodyBytes, found.durationMs], [2_048, 2_000]);
    assert.deepEqual(
      found.primitives.map(({ name, perSecond }) => [name, perSecond > 0]),
      ['sha256_body', 'hmac_sha256', 'mint_token', 'verify_token'].map((name) => [name, true]),
    );
    assert.deepEqual(
      found.loads.map(({ name, failed, maxPerSecond }) => [name, failed, maxPerSecond > 0]),
      ['redirect', 'served', 'accepted_token', 'streamed'].map((name) => [name, 0, true]),
    );
    for (const load of found.loads) {
      const { p50Ms = 0, p99Ms = 0, maxMs = 0 } = load.atHalf?.latencies ?? {};
      assert.ok(p50Ms > 0 && p99Ms >= p50Ms && maxMs >= p99Ms, load.name);
    }
    assert.ok(found.recommendation.servedPerSecond > 0);
    assert.deepEqual(readdirSync(FOLDER), []);
    await untilNoneIsLeft(bench.pid);
  });

  it('ends what it started when it is interrupted', { skip: process.platform !== 'linux' }, async () => {
    const bench = start([BINARY, 'bench', '--duration', '10s'], ENV, FOLDER);
    await bench.line((line) => line.startsWith('Redirects'), 'stderr');
    assert.ok(childrenOf(bench.pid).length >= 3, 'it has started nothing yet');
    const children = childrenOf(bench.pid);
    const askedMs = performance.now();
    bench.signal('SIGINT');
    assert.equal(await bench.ended, 130);
    // The patience with a process of its own is 15 s and more.
    assert.ok(performance.now() - askedMs < 5_000, 'it waited for what it had ended');
    await eventually('all its processes are gone', () => !children.some(isRunning) || undefined);
  });

  it('leaves no router and no engine behind when it is killed', { skip: process.platform !== 'linux' }, async () => {
    const bench = start([BINARY, 'bench', '--duration', '10s'], ENV, FOLDER);
    await bench.line((line) => line.startsWith('Redirects'), 'stderr');
    const children = childrenOf(bench.pid);
    assert.ok(children.length >= 3, 'it has started nothing yet');
    bench.signal('SIGKILL');
    await bench.ended;
    await eventually('all its processes are gone', () => !children.some(isRunning) || undefined);
  });

  it('says so when what it found cannot be written', { skip: process.platform !== 'linux' }, async () => {
    for (const command of ['bench --duration 1s --json', 'bench --help', '--version']) {
      const { code, stderr } = await run(['/bin/sh', '-c', `${BINARY} ${command} > /dev/full`]);
      assert.deepEqual([code, stderr.at(-1)], [1, 'Cannot write to stdout: the disk is full, or nobody reads it']);
    }
  });

  it('asks over fewer connections with bodies of which a router holds no 64', async () => {
    const { code, stdout } = await run([BINARY, 'bench', '--duration', '1s', '--json', '--body', '10485760']);
    const found = JSON.parse(stdout.join('\n')) as BenchFindings;
    assert.equal(code, 0, found.recommendation.text);
    assert.deepEqual(new Set(found.loads.map(({ connections }) => connections)), new Set([12]));
  });

  it('says at once what it could not do, with too few descriptors', {
    skip: process.platform !== 'linux',
  }, async () => {
    for (const [most, reason] of [
      [20, /^Cannot measure: A process of the benchmark ended: EMFILE/],
      [40, /^Cannot measure: A process of the benchmark ended: Cannot run a job: /],
    ] as const) {
      const askedMs = performance.now();
      const { code, stderr } = await run(['/bin/sh', '-c', `ulimit -n ${most} && ${BINARY} bench --duration 1s`]);
      assert.equal(code, 1);
      assert.match(stderr.at(-1) ?? '', reason);
      assert.ok(performance.now() - askedMs < 10_000, 'it waited for a process that was gone');
    }
  });

  it('shows its help', async () => {
    const { code, stdout } = await run([BINARY, 'bench', '--help']);
    assert.equal(code, 0);
    for (const option of ['--quick', '--duration', '--body', '--json']) {
      assert.ok(
        stdout.some((line) => line.includes(option)),
        option,
      );
    }
  });

  it('refuses an unknown option in one line and starts nothing', async () => {
    const { code, stdout, stderr } = await run([BINARY, 'bench', '--fast']);
    assert.deepEqual([code, stdout], [1, []]);
    assert.deepEqual(stderr, ['bench does not know "--fast" (hivenet-router bench --help)']);
  });
});

async function untilNoneIsLeft(parent: number): Promise<void> {
  await eventually('no process of it is left', () => childrenOf(parent).length === 0 || undefined);
}

/** Linux; none elsewhere. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** A zombie has ended. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
