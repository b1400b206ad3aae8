// What the router is held against, in the same runtime and with nothing of the router in it: a handler that reads the body
// and answers a constant 307, a pass-through proxy, and engines that answer at once, stream at a pace, or fall silent after
// their first word. One process each: `bun bench/load/bare.ts redirect|pass-through|engine|pacer|silent [ENGINE-URL]`.

import process from 'node:process';

process.env['NO_PROXY'] = '*';

const [role = '', engineUrl = ''] = process.argv.slice(2);

/** As long as a router's 307 and its token are. */
const LOCATION = `https://site-fr-2.example.com/v1/chat/completions?rt=${'a'.repeat(250)}`;
const BODY_307 = JSON.stringify({ type: 'error', error: { type: 'api_error', message: 'm'.repeat(300), param: null } });
const MODELS = JSON.stringify({ object: 'list', data: [{ id: 'bench-model', object: 'model' }] });
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_780_000_000,
  model: 'bench-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(40) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 250, completion_tokens: 40, total_tokens: 290 },
});
const JSON_TYPE = { 'content-type': 'application/json' };
const EVENT_TYPE = { 'content-type': 'text/event-stream' };

/** Chunks of a paced stream: 50 a second for as long as the client listens, at most a minute. */
const PERIOD_MS = 20;
const CHUNKS_MAX = 3_000;

async function redirect(request: Request): Promise<Response> {
  await request.arrayBuffer();
  const headers = { location: LOCATION, 'cache-control': 'no-store', ...JSON_TYPE };
  return new Response(BODY_307, { status: 307, headers });
}

async function passThrough(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const body = request.method === 'POST' ? await request.arrayBuffer() : null;
  const head = await fetch(engineUrl + pathname, {
    method: request.method,
    headers: { 'content-type': request.headers.get('content-type') ?? 'application/json' },
    body,
    redirect: 'manual',
    signal: request.signal,
    decompress: false,
    timeout: false,
  } as RequestInit);
  return new Response(head.body, { status: head.status, headers: head.headers });
}

async function engine(request: Request): Promise<Response> {
  if (request.method !== 'POST') return new Response(MODELS, { headers: JSON_TYPE });
  await request.arrayBuffer();
  return new Response(ANSWER, { headers: JSON_TYPE });
}

/** Every open stream is sent its next chunk in the same tick, or as near to it as there is time. */
const streams = new Set<{ readonly send: (at: number) => void }>();

async function pacer(request: Request): Promise<Response> {
  if (request.method !== 'POST') return new Response(MODELS, { headers: JSON_TYPE });
  await request.arrayBuffer();
  let number = 0;
  const body = new ReadableStream({
    start(controller) {
      const stream = {
        send: (at: number) => {
          number += 1;
          if (number > CHUNKS_MAX) {
            streams.delete(stream);
            return controller.close();
          }
          const delta = { choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] };
          controller.enqueue(`data: ${JSON.stringify({ number, at, model: 'bench-model', ...delta })}\n\n`);
        },
      };
      streams.add(stream);
      request.signal.addEventListener('abort', () => streams.delete(stream));
    },
  });
  return new Response(body, { headers: EVENT_TYPE });
}

/** One chunk, and then nothing for as long as the client stays. */
async function silent(request: Request): Promise<Response> {
  if (request.method !== 'POST') return new Response(MODELS, { headers: JSON_TYPE });
  await request.arrayBuffer();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue('data: {"choices":[{"index":0,"delta":{"content":" word"}}]}\n\n'),
  });
  return new Response(body, { headers: EVENT_TYPE });
}

const HANDLERS: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
  redirect,
  'pass-through': passThrough,
  engine,
  pacer,
  silent,
};
const handler = HANDLERS[role];
if (handler === undefined) throw new Error(`No such role: ${role}`);
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, idleTimeout: 255, fetch: handler });
if (role === 'pacer') {
  setInterval(() => {
    const at = performance.timeOrigin + performance.now();
    for (const stream of streams) stream.send(at);
  }, PERIOD_MS);
}
console.log(`listening ${server.port}`);
