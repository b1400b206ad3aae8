import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdQueue } from '../../src/cli/wire-hold.ts';
import { configOf, REDIRECT } from '../config/reading.ts';
import { endpointOf, testSite } from '../dispatch/test-site.ts';
import { mapOf, wakesAt } from '../http/hold-fixture.ts';
import { siteA } from '../http/redirect-fixture.ts';

describe('holdQueue()', () => {
  it('ends holds, and the webhook’s call that is under way, when the router stops', async () => {
    const calls: RequestInit[] = [];
    const { ports: dispatching } = testSite([], {
      fetch: (_url, init) => {
        calls.push(init);
        return new Promise((_resolve, reject) =>
          init.signal?.addEventListener('abort', () => reject(new Error('cut'))),
        );
      },
    });
    const { ports } = siteA({ map: mapOf([wakesAt(REDIRECT.HIVENET_ROUTER_SITE_ID)]) });
    const { redirect, metrics, registrations, log } = ports;
    const stopping = new AbortController();
    const config = configOf({ args: ['--wake-webhook-url', 'http://scaler.example.com/'], env: REDIRECT });
    const parts = { redirect, dispatching, metrics, registrations, log, stopping: stopping.signal };
    const holds = holdQueue(config, parts);
    const held = holds.hold({
      ...{ model: 'm', endpoint: endpointOf('/v1/chat/completions'), headers: new Headers(), bytes: 1 },
      ...{ maxWaitMs: undefined, clientGone: new AbortController().signal },
    });
    assert.deepEqual([calls.length, calls[0]?.signal?.aborted], [1, false]);
    stopping.abort();
    assert.deepEqual([(await held).kind, calls[0]?.signal?.aborted], ['shutdown', true]);
  });
});
