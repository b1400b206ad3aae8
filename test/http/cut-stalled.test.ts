// Long answers whose clients stop taking them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFetch } from '../../src/http/app.ts';
import { cutWhenStalled } from '../../src/http/cut-stalled.ts';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { NO_CONNECTION } from '../support/no-connection.ts';
import { bearer, FIXTURE_MAP, placement } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, present, siteA } from './redirect-fixture.ts';

const LIMIT_MS = 1_000;

/** Three chunks, read through the limit. */
function watched() {
  const timers = new FakeTimers();
  const source = { isCancelled: false, isClosing: false, given: 0 };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        source.given += 1;
        if (source.given <= 3) controller.enqueue(Uint8Array.of(source.given));
        else controller.close();
      },
      cancel: () => {
        source.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const connection = {
    closeSoon: () => {
      source.isClosing = true;
    },
  };
  const reader = cutWhenStalled(stream, { timers, timeoutMs: LIMIT_MS }, connection).getReader();
  return { timers, source, reader };
}

describe('cutWhenStalled()', () => {
  it('passes everything on to a client that takes each chunk in time, however long that lasts', async () => {
    const { timers, source, reader } = watched();
    for (const byte of [1, 2, 3]) {
      assert.deepEqual((await reader.read()).value, Uint8Array.of(byte));
      timers.advance(LIMIT_MS - 1);
    }
    assert.equal((await reader.read()).done, true);
    assert.deepEqual([source.isCancelled, source.isClosing, timers.pending], [false, false, 0]);
  });

  it('breaks off, cancels its source and closes the connection, when a chunk has waited that long', async () => {
    const { timers, source, reader } = watched();
    await reader.read();
    timers.advance(LIMIT_MS - 1);
    assert.equal(source.isCancelled, false);
    timers.advance(1);
    assert.deepEqual([source.isCancelled, source.isClosing], [true, true]);
    await assert.rejects(reader.read(), /stopped taking/);
    assert.equal(timers.pending, 0);
  });

  it('cancels its source and its timer when the client leaves', async () => {
    const { timers, source, reader } = watched();
    await reader.read();
    await reader.cancel();
    assert.deepEqual([source.isCancelled, timers.pending], [true, 0]);
  });
});

describe('a stream of an engine', () => {
  it('has its connection closed when its client takes nothing, and kept when it ends otherwise', async () => {
    for (const [cut, last] of [
      ['client_stalled', 'close'],
      ['client_gone', 'end'],
      [undefined, 'end'],
    ] as const) {
      const site = siteA({ agents: [{ models: ['m'] }] });
      const agent = present(site.ports.agents.all()[0]);
      const dispatch: RouterPorts['dispatch'] = async ({ onEnd }) => {
        const reading = { use: undefined, lastWord: 'said', seenTokens: 0 } as const;
        onEnd({ status: 499, outcome: 'client_gone', cut, firstByteMs: 1, reading });
        return { kind: 'answered', response: new Response('data: 1'), by: agent };
      };
      const calls: string[] = [];
      const connection = {
        ...NO_CONNECTION,
        endSilence: () => calls.push('end'),
        closeSoon: () => calls.push('close'),
      };
      const headers = { ...bearer('key-1'), host: 'a' };
      const request = new Request(`https://a${CHAT}`, { method: 'POST', body: CHAT_BODY, headers });
      await createFetch({ ...site.ports, dispatch })(request, connection);
      assert.equal(calls.at(-1), last, cut ?? 'complete');
    }
  });
});

describe('a listing', () => {
  it('is over, as if its client had left, once that takes nothing for --stream-idle-timeout', async () => {
    const stallTimers = new FakeTimers();
    const placements = Array.from({ length: 3_000 }, (_, index) => placement(`m-${index}`, 'chat', 'site-fr-2'));
    const site = siteA({ map: { ...FIXTURE_MAP, placements }, stallTimers });
    const reader = (await site.admin('GET', '/admin/sibling-map')).body?.getReader();
    await reader?.read();
    stallTimers.advance(59_999);
    assert.equal(site.ports.active.count, 1);
    stallTimers.advance(1);
    assert.equal(site.ports.active.count, 0);
    assert.equal(site.accessLines.at(-1)?.['status_code'], 499);
    assert.deepEqual(site.silence, ['close']);
  });
});
