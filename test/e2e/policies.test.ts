// Policies from files through the binary: read at start, renewed by SIGHUP, and a refused start.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { BARE_ENV, BINARY, run } from '../support/child-process.ts';
import { ADMIN_KEY, startRouter } from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const ADMIN = { authorization: `Bearer ${ADMIN_KEY}` };

let ground: Ground;
before(async () => {
  ground = await createGround();
});
after(() => ground.remove());

describe('--policy-model-dir', () => {
  it('is read at start and again on SIGHUP, and keeps what it had when a file is wrong', async () => {
    const file = ground.write('large.yaml', 'models: [large]\nrouting_policy: {max_tries: 1}\n');
    const directory = file.slice(0, file.lastIndexOf('/'));
    const router = await startRouter(['--policy-model-dir', directory]);
    const triesOf = async () => {
      const answer = await fetch(`${router.url}/admin/policy/models/large`, { headers: ADMIN });
      return ((await answer.json()) as { routing_policy: { max_tries: number } }).routing_policy.max_tries;
    };
    try {
      assert.equal(await triesOf(), 1);
      ground.write('large.yaml', 'models: [large]\nrouting_policy: {max_tries: 2}\n');
      router.signal('SIGHUP');
      await router.line((line) => line.includes('INFO Reloaded policies documents=1'), 'stderr');
      assert.equal(await triesOf(), 2);
      ground.write('large.yaml', 'models: [large]\nrouting_policy: {tries: 3}\n');
      router.signal('SIGHUP');
      await router.line((line) => line.includes('ERROR Cannot reload policies, nothing changed'), 'stderr');
      assert.equal(await triesOf(), 2);
    } finally {
      await router.kill();
    }
  });

  it('refuses to start with a file that is wrong, at its line and column', async () => {
    const file = ground.write('policy.yaml', 'routing_policy:\n  exclude_if:\n    kv_cache: { gt: 0.9 }\n');
    const env = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
    const { code, stderr } = await run([BINARY, '--policy-file', file], env);
    assert.equal(code, 1);
    assert.match(
      stderr.join('\n'),
      /^--policy-file \(HIVENET_ROUTER_POLICY_FILE\) ".*policy\.yaml": line 3, column 5: routing_policy\.exclude_if\.kv_cache: unknown metric, must be one of capacity_utilization, .*cpu_usage_percent$/,
    );
  });
});
