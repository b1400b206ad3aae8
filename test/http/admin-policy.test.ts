// The admin API of policies. What makes one valid is tested in test/policy.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { POLICY_MAX_BYTES } from '../../src/policy/document.ts';
import { bearer, createTestRouter, type TestRouter } from '../support/test-router.ts';

const GLOBAL = '/admin/policy';
const DOCUMENTS = '/admin/policy/models';
const BUILT_IN = { routing_policy: { match: {}, strategy: 'least-loaded' } };

async function call(site: TestRouter, method: string, path: string, body?: unknown): Promise<string> {
  const response = await site.admin(method, path, body);
  return `${response.status} ${await response.text()}`;
}

const answer = (status: number, body: object) => `${status} ${JSON.stringify(body)}`;

/** What is in force, by the API and by the plans of models `a`, `b` and `other`. */
async function held(site: TestRouter): Promise<unknown> {
  const [global, documents] = await Promise.all([site.admin('GET', GLOBAL), site.admin('GET', DOCUMENTS)]);
  const regions = ['a', 'b', 'other'].map((model) => site.ports.policies.planFor(model).steps[0]?.match.region ?? '-');
  return [await global.json(), Object.keys((await documents.json()) as object), regions.join(' ')];
}

const reloads = (site: TestRouter, result: string) =>
  site.metric(`hivenet_policy_reload_total{trigger="api",result="${result}"}`);

describe('/admin/policy', () => {
  it('is the built-in policy at first', async () => {
    assert.equal(await call(createTestRouter(), 'GET', GLOBAL), answer(200, BUILT_IN));
  });

  it('is replaced by YAML or JSON, and read back as JSON that can be put again', async () => {
    const site = createTestRouter();
    const updated = answer(200, { status: 'policy updated' });
    assert.equal(await call(site, 'PUT', GLOBAL, 'routing_policy:\n  match: {region: north}\n'), updated);
    const shown = { mode: 'reserved', routing_policy: { match: { region: 'north' }, strategy: 'least-loaded' } };
    assert.deepEqual(await held(site), [shown, [], 'north north north']);
    assert.equal(await call(site, 'PUT', GLOBAL, shown), updated);
    assert.deepEqual(await held(site), [shown, [], 'north north north']);
    assert.equal(await reloads(site, 'success'), 2);
    assert.ok(site.written.some((line) => line.includes('INFO Replaced global policy')));
  });

  it('takes models in the global policy for nothing', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', GLOBAL, 'models: [a]\nrouting_policy: {match: {region: north}}');
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/d`, 'models: [a]'), /^200 /);
    assert.deepEqual(((await held(site)) as unknown[])[2], '- north north');
  });

  it('is not changed by a document with faults, which are told all at once', async () => {
    const site = createTestRouter();
    const rule =
      'line 1, column 1: mode "x": must be one of reserved, serverless; ' +
      'line 2, column 1: max_inflight 1.5: must be a whole number from 0 (off) to 1000000000000';
    assert.equal(await call(site, 'PUT', GLOBAL, 'mode: x\nmax_inflight: 1.5'), answer(400, { error: rule }));
    assert.match(await call(site, 'PUT', GLOBAL, ''), /^400 \{"error":"line 1, column 1: is empty/);
    assert.match(await call(site, 'PUT', GLOBAL, new Uint8Array([0xff])), /^400 \{"error":"body: not UTF-8 text"\}$/);
    assert.deepEqual(await held(site), [BUILT_IN, [], '- - -']);
    assert.equal(await reloads(site, 'error'), 3);
    assert.ok(site.written.some((line) => line.includes('WARN Rejected policy rule="line 1, column 1: mode')));
  });

  it('warns of gates whose metrics nobody tells', async () => {
    const site = createTestRouter();
    const gate = 'models: [a]\nrouting_policy: {exclude_if: {gpu_util_percent: {gt: 0.9}}}';
    await call(site, 'PUT', GLOBAL, gate);
    await call(site, 'PUT', `${DOCUMENTS}/d`, gate);
    const warned = site.written.filter((line) => line.includes('WARN Policy with gates that never act'));
    assert.deepEqual(
      warned.map((line) => /policy="(.*?): exclude_if never excludes by gpu_util_percent/.exec(line)?.[1]),
      ['the global policy', 'policy document \\"d\\"'],
    );
  });

  it('bounds the body', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'PUT', GLOBAL, '{}'.padEnd(POLICY_MAX_BYTES)), /^200 /);
    const tooLarge = answer(400, { error: `The request body is larger than ${POLICY_MAX_BYTES} bytes.` });
    assert.equal(await call(site, 'PUT', GLOBAL, '{}'.padEnd(POLICY_MAX_BYTES + 1)), tooLarge);
    assert.equal(await call(site, 'PUT', `${DOCUMENTS}/d`, '{}'.padEnd(POLICY_MAX_BYTES + 1)), tooLarge);
  });
});

describe('/admin/policy/models', () => {
  const NORTH = 'models: [a, b]\nrouting_policy: {match: {region: north}}';

  it('is empty at first', async () => {
    assert.equal(await call(createTestRouter(), 'GET', DOCUMENTS), answer(200, {}));
  });

  it('holds documents by name, slashes and all', async () => {
    const site = createTestRouter();
    for (const [path, name] of [
      ['org/large', 'org/large'],
      ['with%20blank', 'with blank'],
    ]) {
      const models = [`${name}-model`];
      const put = await call(site, 'PUT', `${DOCUMENTS}/${path}`, { models });
      assert.equal(put, answer(200, { status: 'policy updated', name, models }));
      const read = await call(site, 'GET', `${DOCUMENTS}/${path}`);
      assert.equal(read, answer(200, { models, mode: 'reserved', ...BUILT_IN }));
    }
    assert.deepEqual(Object.keys((await (await site.admin('GET', DOCUMENTS)).json()) as object), [
      'org/large',
      'with blank',
    ]);
  });

  it('routes the models of a document by it, until it is deleted', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/d`, NORTH), /^200 /);
    assert.deepEqual(await held(site), [BUILT_IN, ['d'], 'north north -']);
    for (let times = 0; times < 2; times += 1) {
      const deleted = await call(site, 'DELETE', `${DOCUMENTS}/d`);
      assert.equal(deleted, answer(200, { status: 'policy deleted', name: 'd' }));
      assert.deepEqual(await held(site), [BUILT_IN, [], '- - -']);
    }
  });

  it('answers 409 when another document has one of the models, and changes nothing', async () => {
    const site = createTestRouter();
    await call(site, 'PUT', `${DOCUMENTS}/one`, NORTH);
    const claimed = await call(site, 'PUT', `${DOCUMENTS}/two`, 'models: [c, b]');
    assert.equal(claimed, answer(409, { error: 'model "b" is in policy document "one" already' }));
    assert.deepEqual(await held(site), [BUILT_IN, ['one'], 'north north -']);
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/one`, 'models: [a]'), /^200 /);
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/two`, 'models: [c, b]'), /^200 /);
  });

  it('answers 400 to a document without models, and to a name that is none', async () => {
    const site = createTestRouter();
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/d`, '{}'), /^400 \{"error":"line 1, column 1: must list in/);
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/a%09b`, NORTH), /^400 \{"error":"the name of a policy document/);
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/${'n'.repeat(257)}`, NORTH), /^400 /);
    assert.match(await call(site, 'PUT', `${DOCUMENTS}/${'n'.repeat(256)}`, NORTH), /^200 /);
  });

  it('answers 404 for a document that is not there', async () => {
    const missing = await call(createTestRouter(), 'GET', `${DOCUMENTS}/d`);
    assert.equal(missing, answer(404, { error: 'no policy document of this name' }));
  });
});

describe('/admin/policy*', () => {
  it('is for admin keys', async () => {
    const site = createTestRouter();
    for (const path of [GLOBAL, DOCUMENTS, `${DOCUMENTS}/d`]) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        assert.equal((await site.send(path, { method })).status, 401);
        assert.equal((await site.send(path, { method, headers: bearer('key-1') })).status, 401);
      }
    }
  });

  it('is 405 for other methods (E10)', async () => {
    const allowed = {
      [GLOBAL]: 'GET, HEAD, PUT',
      [DOCUMENTS]: 'GET, HEAD',
      [`${DOCUMENTS}/d`]: 'GET, HEAD, PUT, DELETE',
    };
    for (const [path, allow] of Object.entries(allowed)) {
      const response = await createTestRouter().admin('POST', path, {});
      assert.deepEqual([response.status, response.headers.get('allow')], [405, allow]);
    }
  });
});
