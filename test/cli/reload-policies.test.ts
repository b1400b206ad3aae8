// Policies renewed by SIGHUP, without the signal.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { policyReload } from '../../src/cli/reload-policies.ts';
import type { PolicyPaths } from '../../src/config/load-policies.ts';
import { createTestRouter, type TestRouter } from '../support/test-router.ts';

let folder: string;
let site: TestRouter;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reload-policies-'));
  mkdirSync(join(folder, 'dir'));
  site = createTestRouter();
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const inRegion = (region: string, models = '[unused]') =>
  `models: ${models}\nrouting_policy: {match: {region: ${region}}}`;

async function reload(paths: PolicyPaths): Promise<unknown> {
  const [thing] = policyReload(paths, site.ports);
  const outcome = await thing?.reload();
  return outcome?.ok === true ? outcome.value : outcome?.fault;
}

const regions = () =>
  ['a', 'b', 'other'].map((model) => site.ports.policies.planFor(model).steps[0]?.match.region ?? '-');

const reloads = (result: string) => site.metric(`hivenet_policy_reload_total{trigger="sighup",result="${result}"}`);

describe('policyReload()', () => {
  it('has nothing to do without files', () => {
    assert.deepEqual(policyReload({ file: undefined, directory: undefined }, site.ports), []);
  });

  it('replaces the global policy by that of the file, also one that the admin API put, and no documents', async () => {
    const file = write('policy.yaml', inRegion('north'));
    await site.admin('PUT', '/admin/policy', inRegion('south'));
    await site.admin('PUT', '/admin/policy/models/d', inRegion('east', '[a]'));
    assert.deepEqual(await reload({ file, directory: undefined }), { documents: 1 });
    assert.deepEqual(regions(), ['east', 'north', 'north']);
    assert.equal(await reloads('success'), 1);
  });

  it('replaces everything by what the directory holds; what is no longer there no longer counts', async () => {
    write('dir/_default.yaml', inRegion('north'));
    write('dir/a.yaml', inRegion('west', '[a]'));
    const paths = { file: undefined, directory: join(folder, 'dir') };
    await site.admin('PUT', '/admin/policy/models/a-of-the-api', inRegion('east', '[a, b]'));
    assert.deepEqual(await reload(paths), { documents: 1 });
    assert.deepEqual(regions(), ['west', 'north', 'north']);
    rmSync(join(folder, 'dir/_default.yaml'));
    rmSync(join(folder, 'dir/a.yaml'));
    assert.deepEqual(await reload(paths), { documents: 0 });
    assert.deepEqual(regions(), ['-', '-', '-']);
  });

  it('warns of gates whose metrics nobody tells', async () => {
    write('dir/a.yaml', 'models: [a]\nrouting_policy: {exclude_if: {cpu_usage_percent: {gt: 0.9}}}');
    await reload({ file: undefined, directory: join(folder, 'dir') });
    const warned = site.written.filter((line) => line.includes('WARN Policy with gates that never act'));
    assert.equal(warned.length, 1);
    assert.match(warned[0] ?? '', /document \\"a\\": exclude_if never excludes by cpu_usage_percent/);
  });

  it('lets requests in between two files', async () => {
    for (let index = 0; index < 40; index += 1) write(`dir/d${index}.yaml`, inRegion('north', `[m${index}]`));
    let pauses = 0;
    site.ports.turns.pause = async () => {
      pauses += 1;
    };
    assert.deepEqual(await reload({ file: undefined, directory: join(folder, 'dir') }), { documents: 40 });
    assert.ok(pauses >= 80, `${pauses} pauses`);
  });

  it('changes nothing when anything is wrong, and tells all of it (E13)', async () => {
    const file = write('policy.yaml', inRegion('north'));
    const directory = join(folder, 'dir');
    await reload({ file, directory });
    write('policy.yaml', 'mode: x');
    write('dir/a.yaml', inRegion('west', '[a]'));
    write('dir/b.yaml', inRegion('east', '[b, a]'));
    assert.deepEqual(await reload({ file, directory }), [
      `${file} line 1, column 1: mode "x": must be one of reserved, serverless`,
      `${join(directory, 'b.yaml')} model "a" is in "${join(directory, 'a.yaml')}" too`,
    ]);
    assert.deepEqual(regions(), ['north', 'north', 'north']);
    assert.equal(await reloads('error'), 1);
  });

  it('keeps the old ones when a new one contradicts a key (api.md 9)', async () => {
    const quota = { input_tokens_per_minute: 99 };
    const entry = { version: '2', key_hash: 'a'.repeat(64), owner: 'o', name: 'n', quota };
    assert.equal((await site.admin('PUT', '/admin/api-keys/k', entry)).status, 200);
    const strict = 'mode: serverless\nmax_input_tokens: 100\nrouting_policy: {match: {region: north}}';
    const told = ['key "k": input_tokens_per_minute 99 must be at least max_input_tokens 100 of the global policy'];
    assert.deepEqual(await reload({ file: write('policy.yaml', strict), directory: undefined }), told);
    assert.deepEqual(regions(), ['-', '-', '-']);
    assert.equal(await reloads('error'), 1);
  });
});
