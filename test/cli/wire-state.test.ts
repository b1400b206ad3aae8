import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { keepState, openStateDirectory } from '../../src/cli/wire-state.ts';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { parsePolicy } from '../../src/policy/document.ts';
import { DailyBudgets } from '../../src/quota/daily-budget.ts';
import { documentOf, opened, reopened, replace, withDirectory } from '../state/state-fixture.ts';
import { createTestRouter, FIXTURE_MAP } from '../support/test-router.ts';
import { entry, heldKeys, keys, life, MAP, REPLACE, type started } from './state-lives.ts';

describe('keepState() brings back', () => {
  it('the keys as they were last accepted, single changes too, and is ready', () =>
    withDirectory(async (directory) => {
      await life(directory, async ({ admin, ports }) => {
        assert.equal(heldKeys(ports), ': ');
        assert.match(await admin('GET', '/health/ready'), /^503 /);
        assert.match(await admin('POST', REPLACE, keys('1', 'a', 'b', 'c')), /^200 /);
        assert.match(await admin('PUT', '/admin/api-keys/d', { version: '2', ...entry('d') }), /^200 /);
        assert.match(await admin('DELETE', '/admin/api-keys/b?version=3'), /^200 /);
      });
      await life(directory, async ({ admin, ports, log }) => {
        assert.equal(heldKeys(ports), '3: a,c,d');
        assert.match(await admin('GET', '/health/ready'), /^200 /);
        assert.match(log().join(''), /INFO Restored API keys version="3" count=3/);
        assert.match(await admin('POST', REPLACE, keys('2')), /^400 /, 'the version is remembered');
      });
    }));

  it('the map, and the gauge shows its version (R-007, R-202)', () =>
    withDirectory(async (directory) => {
      const shown = await life(directory, async ({ ports, admin }) => {
        assert.match(await admin('POST', MAP, { ...FIXTURE_MAP, version: 7 }), /^200 /);
        return [await admin('GET', MAP), ports.redirect?.maps.current().contentHash];
      });
      await life(directory, async ({ admin, site, log, ports }) => {
        assert.deepEqual([await admin('GET', MAP), ports.redirect?.maps.current().contentHash], shown);
        assert.equal(await site.metric('hivenet_sibling_map_version'), 7);
        assert.match(log().join(''), /INFO Restored sibling map version="7" sites=4/);
        assert.match(await admin('POST', MAP, FIXTURE_MAP), /^409 /);
      });
    }));

  it('what was used of the day, with what ran when the router ended', () =>
    withDirectory(async (directory) => {
      const nowMs = Date.now();
      await life(directory, ({ tokens }) => {
        const first = tokens.reserve('b', { least: 60, most: 60 }, 100, nowMs);
        assert.ok(first.ok);
        first.value.settle(50);
        assert.ok(tokens.reserve('b', { least: 20, most: 20 }, 100, nowMs).ok);
        const yesterday = tokens.reserve('b', { least: 7, most: 7 }, 100, nowMs - 86_400_000);
        assert.ok(yesterday.ok);
      });
      await life(directory, ({ tokens }) => {
        const free = (atMs: number) => {
          const refused = tokens.reserve('b', { least: 101, most: 101 }, 100, atMs);
          return refused.ok ? undefined : refused.fault.free;
        };
        assert.deepEqual([free(nowMs), free(nowMs - 86_400_000)], [30, 93]);
      });
    }));

  it('what is not damaged, and tells how much was', () =>
    withDirectory(async (directory) => {
      const nowMs = Date.now();
      const reserve = (tokens: DailyBudgets, budget: string) =>
        tokens.reserve(budget, { least: 60, most: 60 }, 100, nowMs).ok;
      await life(directory, async ({ admin, tokens }) => {
        assert.match(await admin('POST', REPLACE, keys('1', 'a')), /^200 /);
        assert.deepEqual([reserve(tokens, 'good'), reserve(tokens, 'bad')], [true, true]);
      });
      const database = new DatabaseSync(join(directory, 'state.sqlite'));
      database.exec("UPDATE daily_use SET tokens = -5000000 WHERE budget = CAST('bad' AS BLOB)");
      database.close();
      await life(directory, ({ tokens, ports, log }) => {
        assert.match(log().join(''), /ERROR Left out damaged counters of the state file rows=1/);
        assert.equal(heldKeys(ports), '1: a');
        assert.deepEqual(
          [reserve(tokens, 'good'), reserve(tokens, 'bad'), reserve(tokens, 'bad')],
          [false, true, false],
        );
      });
    }));

  it('the lifetime of agents that are there and of agents that come (routing.md §23)', () =>
    withDirectory(async (directory) => {
      const settings = { agents: [{ models: ['m'] }] };
      const one = (ports: RouterPorts) => ports.agents.all()[0] ?? assert.fail('no agent');
      const pushed = { engine: 'vllm', backend_url: 'http://10.0.0.9:1', models: ['m'], capacity: 1 };
      const put = async ({ admin, ports }: ReturnType<typeof started>) => {
        assert.match(await admin('PUT', '/admin/agents/pushed', pushed), /^20[01] /);
        return ports.agents.get('pushed') ?? assert.fail('no agent');
      };
      await life(
        directory,
        async (router) => {
          one(router.ports).record.sample(42);
          one(router.ports).record.succeeded({ inputTokens: 3, outputTokens: 4 });
          (await put(router)).record.failed();
        },
        settings,
      );
      await life(
        directory,
        async (router) => {
          const { successes, inputTokens, srttMs } = one(router.ports).record;
          assert.deepEqual([successes, inputTokens, srttMs], [1, 3, 42]);
          assert.equal((await put(router)).record.failures, 1);
          assert.match(await router.admin('DELETE', '/admin/agents/pushed'), /^20/);
          assert.equal((await put(router)).record.failures, 0, 'removed for good');
          one(router.ports).record.succeeded();
        },
        settings,
      );
      await life(directory, ({ ports }) => assert.equal(one(ports).record.successes, 2), settings);
    }));

  it('nothing, and tells no start, where nothing was kept (A15)', () =>
    withDirectory(async (directory) => {
      await life(directory, ({ ports, tokens }) => {
        assert.equal(ports.restoredAtMs, undefined);
        tokens.reserve('b', { least: 1, most: 1 }, 1, Date.now());
      });
      await life(directory, ({ ports }) => assert.equal(ports.restoredAtMs, undefined));
    }));

  for (const [what, push] of [
    ['keys', (admin: (...of: [string, string, unknown]) => Promise<string>) => admin('POST', REPLACE, keys('1'))],
    ['a map', (admin: (...of: [string, string, unknown]) => Promise<string>) => admin('POST', MAP, FIXTURE_MAP)],
  ] as const) {
    it(`${what}, and tells when the router started (A15)`, () =>
      withDirectory(async (directory) => {
        await life(directory, ({ admin }) => push(admin));
        const beforeMs = Date.now();
        await life(directory, ({ ports }) => {
          const { restoredAtMs = 0 } = ports;
          assert.ok(restoredAtMs >= beforeMs && restoredAtMs <= Date.now());
        });
      }));
  }
});

describe('keepState() without a directory', () => {
  it('keeps nothing', async () => {
    const site = createTestRouter();
    assert.deepEqual(openStateDirectory(undefined, site.ports.log), { ok: true, value: undefined });
    const { ports, end } = keepState(undefined, { ports: site.ports, tokens: new DailyBudgets() });
    assert.deepEqual([ports.kept, ports.restoredAtMs], [undefined, undefined]);
    await end();
  });
});

describe('keepState() leaves in the file, and tells', () => {
  it('a map that this router would not take, until the next push', () =>
    withDirectory(async (directory) => {
      await life(directory, ({ admin }) => admin('POST', MAP, { ...FIXTURE_MAP, version: 5 }));
      await life(
        directory,
        async ({ admin, log, ports }) => {
          assert.match(
            log().join(''),
            /ERROR Cannot restore the sibling map, waiting for a push rule="sites: does not list this router/,
          );
          assert.equal(ports.restoredAtMs, undefined);
          assert.match(await admin('GET', MAP), /"version":0,/);
        },
        { siteId: 'site-xx-9' },
      );
      await life(directory, async ({ admin }) => assert.match(await admin('GET', MAP), /"version":5,/));
    }));

  it('keys that are none, and joins no single key to them', () =>
    withDirectory(async (directory) => {
      reopened(directory, (state) => replace(state, 'keys', documentOf('9', '{}', '{"id":1}')));
      await life(directory, async ({ log, ports }) => {
        assert.match(
          log().join(''),
          /ERROR Cannot restore API keys, waiting for a push rule="keys\[0\]\.id: is required"/,
        );
        assert.equal(heldKeys(ports), ': ');
      });
      await life(directory, async ({ admin }) => {
        assert.match(await admin('PUT', '/admin/api-keys/a', { version: '1', ...entry('a') }), /^200 /);
      });
      await life(directory, ({ ports }) => assert.equal(heldKeys(ports), '1: a'));
    }));

  it('keys that contradict a policy', () =>
    withDirectory(async (directory) => {
      const slow = { ...entry('a'), quota: { input_tokens_per_minute: 10 } };
      await life(directory, ({ admin }) => admin('POST', REPLACE, { version: '1', keys: [slow] }));
      const rule = 'mode: serverless\nmax_input_tokens: 11\nrouting_policy: {strategy: least-loaded}';
      const global = parsePolicy(rule, 'global', new Set());
      assert.ok(global.ok);
      await life(
        directory,
        ({ ports, log }) => {
          assert.equal(heldKeys(ports), ': ');
          assert.match(
            log().join(''),
            /ERROR Cannot restore API keys, .* rule="key \\"a\\": input_tokens_per_minute 10 /,
          );
        },
        { policies: { global: global.value, documents: new Map() } },
      );
      await life(directory, ({ ports }) => assert.equal(heldKeys(ports), '1: a'));
    }));

  it('keys and map that this start does not use', () =>
    withDirectory(async (directory) => {
      await life(directory, async ({ admin }) => {
        await admin('POST', REPLACE, keys('1', 'a'));
        await admin('POST', MAP, FIXTURE_MAP);
      });
      const site = createTestRouter({ authMode: 'none' });
      const { ports, end } = keepState(opened(directory).state, { ports: site.ports, tokens: new DailyBudgets() });
      assert.equal(ports.restoredAtMs, undefined);
      await end();
      await life(directory, async ({ ports, admin }) => {
        assert.equal(heldKeys(ports), '1: a');
        assert.match(await admin('GET', MAP), /"version":1,/);
      });
    }));
});
