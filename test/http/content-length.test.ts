// The number that the limit and the budget of bodies stand on: either it is one, or the request is refused.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readContentLength } from '../../src/http/content-length.ts';
import { bearer } from '../support/test-router.ts';
import { bodyOf, codeOf, inPieces, reader } from './body-reading.ts';
import { CHAT, outcomeOf, sendStream, siteA } from './redirect-fixture.ts';

describe('readContentLength()', () => {
  const lengths = [
    [null, undefined],
    ['0', 0],
    ['5', 5],
    ['5, 5', 5],
    ['5,5,  5', 5],
    ['10485761', 10_485_761],
  ] as const;
  for (const [header, length] of lengths) {
    it(`reads ${header} as ${length} (RFC 9110 §8.6, A13)`, () => assert.equal(readContentLength(header), length));
  }

  for (const header of ['', ' ', '5, 6', '5, 55', '55, 5', '5,', ',5', '5 5', '+5', '-5', '0x5', '5.0', '1e3', 'NaN']) {
    it(`refuses ${JSON.stringify(header)}`, () => {
      assert.throws(() => readContentLength(header), { code: 'request_invalid' });
    });
  }
});

describe('a body whose length is declared twice', () => {
  const twice = (size: number) => ({ ...bearer('key-1'), 'content-length': `${size}, ${size}` });

  it('has the limit of any other (R-035, R-218)', async () => {
    const site = siteA({ maxRequestBytes: 1_024 });
    assert.equal(await outcomeOf(site.ask(CHAT, bodyOf(1_024), twice(1_024))), '307 model_redirected');
    assert.equal(await outcomeOf(site.ask(CHAT, bodyOf(1_025), twice(1_025))), '413 request_invalid');
    assert.equal(site.ports.bodies.budget.bytes, 0);
    assert.equal(await site.metric('hivenet_router_body_bytes'), 0);
  });

  it('is counted like any other, so that the budget goes on to hold (R-218)', async () => {
    const headers = { 'content-length': '60, 60' };
    const first = reader('x'.repeat(60), { headers, budgetBytes: 100 });
    await first.read();
    assert.equal(first.budget.bytes, 60);
    const beyond = reader('x'.repeat(60), { headers, budgetBytes: 59 });
    assert.equal(await codeOf(beyond.read()), 'queue_full');
  });

  it('is refused when the two differ', async () => {
    const site = siteA();
    const stream = inPieces(new TextEncoder().encode(bodyOf(100)), 10);
    const headers = { ...bearer('key-1'), 'content-length': '100, 101' };
    assert.equal(await outcomeOf(sendStream(site, CHAT, stream, headers)), '400 request_invalid');
    assert.equal(site.ports.bodies.budget.bytes, 0);
  });
});
