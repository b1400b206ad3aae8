import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openConverted } from '../../../src/dispatch/providers/converted-body.ts';
import { EVENT_MAX } from '../../../src/dispatch/providers/event-reader.ts';
import type { StreamConversion } from '../../../src/dispatch/providers/stream-conversion.ts';
import { StreamToAnthropic } from '../../../src/dispatch/providers/stream-to-anthropic.ts';
import { StreamToOpenai } from '../../../src/dispatch/providers/stream-to-openai.ts';
import { encodeUtf8 } from '../../../src/lib/utf8.ts';
import { eventStream, eventText, goldenStreams, NOW_MS } from './golden.ts';

const SECRET = 'sk-operator-secret';

const DIALECTS = [
  {
    file: 'stream-to-openai',
    from: 'anthropic',
    to: 'openai',
    convert: (includeUsage: boolean): StreamConversion =>
      new StreamToOpenai({ nowMs: NOW_MS, includeUsage, secret: SECRET }),
    keepAlive: ': ping\n',
  },
  {
    file: 'stream-to-anthropic',
    from: 'openai',
    to: 'anthropic',
    convert: (): StreamConversion => new StreamToAnthropic(SECRET),
    keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  },
] as const;

/** A provider's body that gives these chunks, and notes how many were taken and whether it was cancelled. */
function source(chunks: readonly Uint8Array[]) {
  const seen = { taken: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const chunk = chunks[seen.taken];
        seen.taken += 1;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, opened: { chunks: [], rest: body.getReader() } };
}

/** All that the client reads, and why the stream broke. */
async function converted(chunks: readonly Uint8Array[], conversion: StreamConversion) {
  const { seen, opened } = source(chunks);
  const result = await openConverted(opened, conversion, () => undefined);
  if (!result.ok) return { text: '', failure: result.fault, seen };
  const { body, failure } = result.value;
  const parts = [...body.chunks];
  for (;;) {
    const value = await body.rest?.read().then(
      (part) => part.value,
      () => undefined,
    );
    if (value === undefined) break;
    parts.push(value);
  }
  return { text: Buffer.concat(parts).toString(), failure: failure(), seen };
}

for (const { file, from, to, convert, keepAlive } of DIALECTS) {
  const streams = goldenStreams(file);
  const [first] = streams;
  assert.ok(first !== undefined);
  const begun = first.in.slice(0, 4);

  describe(`a stream to ${to}`, () => {
    for (const { name, in: events, out, includeUsage = false } of streams) {
      it(`converts ${name}`, async () => {
        const { text, failure } = await converted([encodeUtf8(eventStream(from, events))], convert(includeUsage));
        assert.equal(text, eventStream(to, out));
        assert.equal(failure, undefined);
      });
    }

    it('is the same however its bytes are split, and with every line end', async () => {
      const said = `\u00e9\u20ac\ud83d\ude00 "\\n"`;
      const events = JSON.parse(JSON.stringify(first.in).replaceAll('Hel', JSON.stringify(said).slice(1, -1)));
      const includeUsage = first.includeUsage ?? false;
      const whole = await converted([encodeUtf8(eventStream(from, events))], convert(includeUsage));
      assert.ok(whole.text.includes('\ud83d\ude00'));
      const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 200 });
      await fc.assert(
        fc.asyncProperty(cuts, fc.constantFrom('\n', '\r\n', '\r'), async (sizes, lineEnd) => {
          const bytes = encodeUtf8(eventStream(from, events).replaceAll('\n', lineEnd));
          const { text, failure } = await converted(split(bytes, sizes), convert(includeUsage));
          assert.equal(text.replaceAll(keepAlive, ''), whole.text);
          assert.equal(failure, undefined);
        }),
        { numRuns: 50 },
      );
    });

    it('gives each event out before the next goes in', async () => {
      const chunks = first.in.map((event) => encodeUtf8(eventText(from, event)));
      const { seen, opened } = source(chunks);
      const result = await openConverted(opened, convert(true), () => undefined);
      assert.ok(result.ok);
      assert.equal(seen.taken, 1);
      const { rest } = result.value.body;
      for (let taken = 2; taken <= chunks.length; taken += 1) {
        const { value } = (await rest?.read()) ?? {};
        assert.ok(value !== undefined && value.length > 0);
        assert.equal(seen.taken, taken);
      }
    });

    it('says that it lives when the provider is at work on what the client is not shown', async () => {
      const chunks = [
        eventText(from, first.in[0]),
        ': at work\n\n',
        ...first.in.slice(1).map((e) => eventText(from, e)),
      ];
      const { text } = await converted(
        chunks.map((chunk) => encodeUtf8(chunk)),
        convert(true),
      );
      const pings = (out: string) => out.split(keepAlive).length - 1;
      const shown = first.in.map((event) => encodeUtf8(eventText(from, event)));
      const { text: unasked } = await converted(shown, convert(true));
      assert.equal(pings(text), pings(unasked) + 1);
      assert.equal(text.replaceAll(keepAlive, ''), eventStream(to, first.out));
    });

    it('does not say so for a part of an event: what never completes is silence', async () => {
      const [head = '', ...rest] = first.in.map((event) => eventText(from, event));
      const next = rest[0] ?? '';
      const chunks = [head, ': at work\n\n', next.slice(0, 10), next.slice(10), ...rest.slice(1)];
      const { text } = await converted(
        chunks.map((chunk) => encodeUtf8(chunk)),
        convert(true),
      );
      const whole = await converted(
        [head, ': at work\n\n', ...rest].map((chunk) => encodeUtf8(chunk)),
        convert(true),
      );
      assert.equal(text, whole.text);
    });

    it('takes nothing behind its end, and lets go of the provider', async () => {
      const text = eventStream(from, first.in);
      const {
        text: out,
        seen,
        failure,
      } = await converted([encodeUtf8(`${text}data: garbage\n\n`), encodeUtf8('x')], convert(true));
      assert.equal(out, eventStream(to, first.out));
      assert.equal(failure, undefined);
      assert.ok(seen.isCancelled);
      assert.equal(seen.taken, 1);
    });

    it('tells the provider\u2019s own error, after what came before it, and never a false end', async () => {
      const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      const text = eventStream(from, begun) + eventText(from, event) + eventStream(from, first.in.slice(4));
      const { text: out, failure, seen } = await converted([encodeUtf8(text)], convert(true));
      assert.deepEqual(failure, { code: 'backend_unavailable', message: 'Overloaded' });
      assert.ok(out.length > 0 && !out.includes('[DONE]') && !out.includes('message_stop'));
      assert.ok(seen.isCancelled);
    });

    it('shows at most 512 bytes of an error, which is a backend_error unless it says to come back', async () => {
      const event = { type: 'error', error: { type: 'server_error', message: '\u00e9'.repeat(600) } };
      const { failure } = await converted([encodeUtf8(eventText(from, event))], convert(true));
      assert.equal(failure?.code, 'backend_error');
      assert.equal(Buffer.byteLength(failure?.message ?? ''), 512);
    });

    it('takes the key out of an error before it cuts it: no part of it is left', async () => {
      const event = { type: 'error', error: { type: 'server_error', message: `${'x'.repeat(500)}${SECRET}` } };
      const { failure } = await converted([encodeUtf8(eventText(from, event))], convert(true));
      assert.equal(failure?.message, `${'x'.repeat(500)}[hidden]`);
      const escaped = { type: 'error', error: { message: `got \\u0073${SECRET.slice(1)}` } };
      const { failure: unshown } = await converted([encodeUtf8(eventText(from, escaped))], convert(true));
      assert.equal(unshown?.message, 'The provider reported an error.');
    });

    it('knows that a provider is busy by the type or the code of its error, and an error by any shape', async () => {
      const codes: readonly (readonly [error: unknown, code: string])[] = [
        [{ type: 'rate_limit_error' }, 'backend_unavailable'],
        [{ type: 'requests', code: 'rate_limit_exceeded' }, 'backend_unavailable'],
        [{ type: 'server_error', code: 500 }, 'backend_error'],
        ['It broke', 'backend_error'],
      ];
      for (const [error, code] of codes) {
        const { failure } = await converted([encodeUtf8(eventText(from, { type: 'error', error }))], convert(true));
        assert.equal(failure?.code, code);
        if (typeof error === 'string') assert.equal(failure?.message, error);
      }
    });

    const broken: readonly (readonly [name: string, text: string, why: string])[] = [
      ['ends early', eventStream(from, begun), 'it ended too early'],
      ['is empty', '', 'it ended too early'],
      ['holds garbage', `${eventStream(from, begun)}data: {"a\n\n`, 'an event is not JSON'],
      ['holds bytes that are no text', `${eventStream(from, begun)}data: \u0000\u0001\n\n`, 'an event is not JSON'],
    ];
    for (const [name, text, why] of broken) {
      it(`breaks off when it ${name}`, async () => {
        const { text: out, failure } = await converted([encodeUtf8(text)], convert(true));
        assert.deepEqual(failure, { code: 'backend_error', message: `The provider broke off its answer: ${why}.` });
        assert.ok(!out.includes('[DONE]') && !out.includes('message_stop'));
      });
    }

    it('breaks off when its connection does', async () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encodeUtf8(eventStream(from, begun))),
        pull: (controller) => controller.error(new Error('reset')),
      });
      const result = await openConverted({ chunks: [], rest: body.getReader() }, convert(true), () => undefined);
      assert.ok(result.ok);
      await assert.rejects(async () => result.value.body.rest?.read());
      assert.equal(result.value.failure()?.code, 'backend_error');
    });

    it(`holds ${EVENT_MAX} characters of an unfinished event, and breaks off at one more`, async () => {
      const start = `${eventStream(from, begun)}`;
      const line = `data: ${'x'.repeat(EVENT_MAX - 6)}`;
      const within = await converted([encodeUtf8(start + line)], convert(true));
      assert.ok(within.failure?.message.endsWith('it ended too early.'));
      const beyond = await converted([encodeUtf8(start), encodeUtf8(`${line}x`)], convert(true));
      const message = `The provider broke off its answer: an event is longer than ${EVENT_MAX} characters.`;
      assert.deepEqual(beyond.failure, { code: 'backend_error', message });
      assert.ok(beyond.seen.isCancelled);
    });

    it('counts tokens for accounting, whether or not the client asked for them', async () => {
      const conversion = convert(false);
      assert.equal(conversion.tokens, undefined);
      await converted([encodeUtf8(eventStream(from, first.in))], conversion);
      assert.deepEqual(conversion.tokens, { input: 10, cacheRead: 20, cacheWrite: 3, output: 7, thinking: 4 });
    });
  });
}

function split(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (let turn = 0; start < bytes.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}
