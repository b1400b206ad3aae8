// A site in the middle of a streamed answer, as the tests of streams begin.

import assert from 'node:assert/strict';
import { WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import { openStream, startEngine } from './engines.ts';
import { endpointOf, responseOf, slots, type TestSite, testSite, textReader } from './test-site.ts';

/** A site with one agent in the middle of a stream, of which the client has read the first event. */
export async function streaming(path = '/v1/chat/completions', headers?: Record<string, string>) {
  const stream = openStream(headers);
  const engine = await startEngine(stream.answer);
  const site = testSite([engine.url]);
  const asking = site.ask({ endpoint: endpointOf(path) });
  const response = await stream.started;
  response.write('data: 1\n\n');
  const outcome = await asking;
  const { read, cancel } = textReader(outcome);
  assert.equal(await read(), 'data: 1\n\n');
  const [seen] = engine.seen;
  if (seen === undefined) throw new Error('The engine was not asked');
  return { site, engine: response, abandoned: seen.abandoned, head: responseOf(outcome), read, cancel };
}

/** As `streaming`, with a document of which more than the router holds back has come, and been read. */
export async function streamingDocument() {
  const stream = openStream({ 'content-type': 'application/json' });
  const engine = await startEngine(stream.answer);
  const site = testSite([engine.url]);
  const asking = site.ask();
  const response = await stream.started;
  const begun = 'x'.repeat(WHOLE_ANSWER_MAX_BYTES + 1);
  response.write(begun);
  const { read } = textReader(await asking);
  for (let size = 0; size < begun.length; ) size += (await read())?.length ?? Number.NaN;
  return { site, engine: response, read };
}

export const error = (code: string, message: string) =>
  `data: {"type":"error","error":{"code":"${code}","message":"${message}"}}\n\n`;
export const BROKEN = error('backend_error', 'The engine broke off its answer.');
export const IDLE = error('request_timeout', 'The engine sent nothing within the idle timeout.');

/** Outcome and status of the only end that was reported, and that all slots are free. */
export function endOf(site: TestSite) {
  assert.equal(site.ends.length, 1);
  assert.deepEqual(slots(site), [0]);
  assert.equal(site.timers.pending, 0);
  const [end] = site.ends;
  return [end?.outcome, end?.status];
}

/** Until every promise that can be settled is. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
