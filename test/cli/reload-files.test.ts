// What each reload reads, and what it does not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentsReload } from '../../src/cli/reload-agents.ts';
import { modelAliasReload } from '../../src/cli/reload-model-aliases.ts';
import { policyReload } from '../../src/cli/reload-policies.ts';
import { tlsReload } from '../../src/cli/reload-tls.ts';
import type { Listener } from '../../src/runtime/runtime.ts';
import { createTestRouter } from '../support/test-router.ts';

/** No regular file, but one that ends at once: of a pipe without a writer a reload would never come back. */
const FILE = '/dev/null';

const LISTENER: Listener = {
  url: '',
  port: 0,
  renew: () => assert.fail('renewed'),
  stop: () => assert.fail('stopped'),
  abort: () => assert.fail('aborted'),
};

describe('a reload', () => {
  const { ports } = createTestRouter();
  const tls = { certFile: FILE, keyFile: FILE, cert: '', key: '' };
  for (const [what, things] of [
    ['agents', agentsReload(FILE, ports.agents)],
    ['model aliases', modelAliasReload(FILE, ports)],
    ['policies', policyReload({ file: FILE, directory: undefined }, ports)],
    ['the certificate', tlsReload(tls, LISTENER)],
  ] as const) {
    it(`of ${what} reads regular files only`, async () => {
      assert.equal(things.length, 1);
      const outcome = await things[0]?.reload();
      assert.ok(outcome !== undefined && !outcome.ok);
      assert.match(outcome.fault.join(), /not a regular file/);
    });
  }
});
