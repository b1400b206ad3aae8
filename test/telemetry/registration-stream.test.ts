import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BACKLOG_MAX,
  type RegistrationEvent,
  RegistrationStream,
  SUBSCRIBERS_MAX,
} from '../../src/telemetry/registration-stream.ts';

const EVENT: RegistrationEvent = {
  event_type: 'registered',
  deployment_id: 'd',
  replica_id: '',
  agent_id: 'a',
  timestamp: '2026-11-03T12:00:00.000Z',
};

const noop = () => undefined;

/** A subscription, and how often it was told of its end. */
function subscribed(stream: RegistrationStream) {
  const seen = { ends: 0 };
  const body = stream.subscribe(() => {
    seen.ends += 1;
  });
  assert.ok(body !== undefined);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const next = async () => decoder.decode((await reader.read()).value);
  return { seen, reader, next };
}

describe('RegistrationStream', () => {
  it('begins with a comment and sends each event as one line of JSON (routing.md §22)', async () => {
    const stream = new RegistrationStream();
    const { next } = subscribed(stream);
    stream.publish(EVENT);
    stream.keepAlive();
    assert.equal(await next(), ': subscribed\n\n');
    assert.equal(
      await next(),
      'data: {"event_type":"registered","deployment_id":"d","replica_id":"","agent_id":"a","timestamp":"2026-11-03T12:00:00.000Z"}\n\n',
    );
    assert.equal(await next(), ': alive\n\n');
  });

  it('tells every subscriber, and nothing of before', async () => {
    const stream = new RegistrationStream();
    stream.publish(EVENT);
    const all = [subscribed(stream), subscribed(stream)];
    for (const { next } of all) assert.match(await next(), /^:/);
    stream.publish({ ...EVENT, event_type: 'unregistered' });
    for (const { next } of all) assert.match(await next(), /"unregistered"/);
  });

  it('ends a subscriber that lags by more events than its backlog, and no other', async () => {
    const stream = new RegistrationStream();
    const slow = subscribed(stream);
    const quick = subscribed(stream);
    for (let sent = 0; sent < BACKLOG_MAX - 1; sent += 1) stream.publish(EVENT);
    for (let read = 0; read < BACKLOG_MAX; read += 1) await quick.next();
    assert.equal(stream.subscribers, 2);
    stream.publish(EVENT);
    assert.deepEqual([slow.seen.ends, quick.seen.ends, stream.subscribers], [1, 0, 1]);
    let chunks = 0;
    while (!(await slow.reader.read()).done) chunks += 1;
    assert.equal(chunks, BACKLOG_MAX);
    assert.match(await quick.next(), /^data/);
  });

  it('forgets a subscriber that leaves', async () => {
    const stream = new RegistrationStream();
    const { reader, seen } = subscribed(stream);
    await reader.cancel();
    stream.publish(EVENT);
    stream.close();
    assert.deepEqual([seen.ends, stream.subscribers], [1, 0]);
  });

  it('tells of an end once, also when the subscriber leaves a stream that has ended', async () => {
    const stream = new RegistrationStream();
    const lagging = subscribed(stream);
    const closed = subscribed(stream);
    for (let sent = 0; sent <= BACKLOG_MAX; sent += 1) stream.publish(EVENT);
    stream.publish(EVENT);
    stream.close();
    stream.close();
    for (const { reader } of [lagging, closed]) await reader.cancel();
    assert.deepEqual([lagging.seen.ends, closed.seen.ends], [1, 1]);
  });

  it('takes as many as the bound says, and another when one has left', async () => {
    const stream = new RegistrationStream();
    const first = subscribed(stream);
    for (let more = 1; more < SUBSCRIBERS_MAX; more += 1) subscribed(stream);
    assert.equal(stream.subscribe(noop), undefined);
    await first.reader.cancel();
    assert.notEqual(stream.subscribe(noop), undefined);
  });

  it('ends them all when it is closed, after what was sent, and takes no new one', async () => {
    const stream = new RegistrationStream();
    const { next, reader, seen } = subscribed(stream);
    stream.publish(EVENT);
    stream.close();
    stream.publish(EVENT);
    assert.equal(seen.ends, 1);
    await next();
    assert.match(await next(), /^data/);
    assert.equal((await reader.read()).done, true);
    assert.equal(stream.subscribe(noop), undefined);
  });
});
