// Long answers: made in turns, no faster than they are taken, and over for the router whatever their end.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hono } from 'hono';
import { piecewiseResponse } from '../../src/http/piecewise.ts';
import { completeRecord, startRecord } from '../../src/http/record-request.ts';
import type { RouterEnv } from '../../src/http/router-ports.ts';
import { NO_CONNECTION } from '../support/no-connection.ts';
import { createTestRouter, pauseAtEachStep, type TestRouter } from '../support/test-router.ts';

/** Two of them fill a part. */
const PIECE = 'x'.repeat(40_000);
const PIECES_IN_PART = 2;

interface Made {
  pieces: number;
}

/** So many pieces; what comes after them may throw. */
function* pieces(count: number, made: Made, failure?: Error): Generator<string, void, undefined> {
  for (; made.pieces < count; made.pieces += 1) yield PIECE;
  if (failure !== undefined) throw failure;
}

/** The answer of a site that is asked for these pieces. */
async function ask(site: TestRouter, all: Iterator<string>, method = 'GET'): Promise<Response> {
  const app = new Hono<RouterEnv>();
  app.get('/long', (c) => piecewiseResponse(site.ports, c, all));
  const request = new Request('https://x/long', { method });
  const record = startRecord(site.ports, request, NO_CONNECTION);
  const response = await app.fetch(request, { connection: NO_CONNECTION, record });
  completeRecord(site.ports, record, response);
  return response;
}

function lastLine(site: TestRouter): unknown[] {
  assert.equal(site.ports.active.count, 0);
  assert.equal(site.accessLines.length, 1);
  return [site.accessLines[0]?.['status_code'], site.accessLines[0]?.['error_code']];
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

describe('piecewiseResponse()', () => {
  it('sends a short text whole, and a long one in the same bytes', async () => {
    for (const count of [0, 1, PIECES_IN_PART, 7]) {
      const site = createTestRouter();
      const response = await ask(site, pieces(count, { pieces: 0 }));
      assert.equal(await response.text(), PIECE.repeat(count));
      assert.deepEqual(lastLine(site), [200, undefined]);
    }
  });

  it('makes nothing before the client takes it', async () => {
    const made = { pieces: 0 };
    const response = await ask(createTestRouter(), pieces(100, made));
    const reader = response.body?.getReader();
    for (let part = 1; part <= 3; part += 1) {
      await reader?.read();
      await settle();
      assert.ok(made.pieces <= part * PIECES_IN_PART, `${made.pieces} pieces for ${part} parts taken`);
    }
    await reader?.cancel();
  });

  it('lets the event loop turn between two pieces (R-163)', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    let [turns, isOver] = [0, false];
    const answered = ask(site, pieces(30, { pieces: 0 })).then((response) => response.text());
    void answered.then(() => {
      isOver = true;
    });
    for (; !isOver; turns += 1) await new Promise((resolve) => setTimeout(resolve, 0));
    assert.ok(turns >= 30, `${turns} turns for 30 pieces`);
  });

  it('ends the request of a client that leaves, also while a part is made', async () => {
    for (const isMaking of [false, true]) {
      const site = createTestRouter();
      if (isMaking) pauseAtEachStep(site);
      const response = await ask(site, pieces(100, { pieces: 0 }));
      const reader = response.body?.getReader();
      await reader?.read();
      const next = reader?.read();
      if (!isMaking) await next;
      await reader?.cancel();
      await settle();
      assert.deepEqual(lastLine(site), [499, 'client_gone']);
    }
  });

  it('ends the request when a piece cannot be made: cut, logged, and not taken for whole', async () => {
    const site = createTestRouter();
    const response = await ask(site, pieces(5, { pieces: 0 }, new Error('a bug')));
    assert.equal(response.status, 200);
    await assert.rejects(response.text(), /a bug/);
    assert.deepEqual(lastLine(site), [500, 'backend_error']);
    assert.match(site.written.join(''), /ERROR Request failed request_id=.* cause="Error: a bug"/);
  });

  it('counts a failure once when the client has left before it', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const response = await ask(site, pieces(2, { pieces: 0 }, new Error('a bug')));
    const reader = response.body?.getReader();
    await reader?.read();
    void reader?.read().catch(() => undefined);
    await reader?.cancel();
    await settle();
    assert.deepEqual(lastLine(site), [499, 'client_gone']);
  });

  it('answers HEAD with the head alone', async () => {
    const site = createTestRouter();
    assert.equal(await (await ask(site, pieces(9, { pieces: 0 }), 'HEAD')).text(), '');
    assert.deepEqual(lastLine(site), [200, undefined]);
  });
});
