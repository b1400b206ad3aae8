#!/usr/bin/env node
// Starts one model when a router says that requests wait for it (docs/hold.md): an example to begin with, on Node, Bun or
// Deno. It believes only what the router's secret has signed, and starts nothing that runs already.
//
//   node wake-webhook.mjs 127.0.0.1:9000 /etc/hivenet-router/wake-secret llama-3-70b docker start vllm-llama-3-70b
//
// The router has: --wake-webhook-url http://127.0.0.1:9000/ --wake-webhook-secret-file /etc/hivenet-router/wake-secret
// A scaler of one's own would count `held`, start more than one replica, and stop them when they have been idle for long.

import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';

const BODY_MAX_BYTES = 65_536;

const [address = '', secretFile = '', model = '', ...command] = process.argv.slice(2);
if (command.length === 0) {
  console.error('Usage: wake-webhook.mjs HOST:PORT SECRET-FILE MODEL COMMAND [ARGUMENT…]');
  process.exit(1);
}
const secret = readFileSync(secretFile, 'utf8').trim();
if (secret === '') {
  console.error(`${secretFile} is empty: anybody could sign.`);
  process.exit(1);
}
let running;

function isSigned(body, signature = '') {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const shown = Buffer.from(signature);
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}

/** The router calls again and again while requests wait: a command that runs is not started a second time. */
function wake({ site, held, since }) {
  if (running !== undefined) return;
  console.log(`${held} waiting for ${model} at ${site} since ${since}: ${command.join(' ')}`);
  running = spawn(command[0], command.slice(1), { stdio: 'inherit' });
  running.on('error', (error) => {
    console.error(`Cannot start ${model}: ${error.message}`);
    running = undefined;
  });
  running.on('close', () => (running = undefined));
}

/** The status of the answer. Throws for a client that breaks off, and for a signed body that is not JSON. */
async function answer(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isSigned(body, request.headers['x-hivenet-signature'])) return 401;
  const wanted = JSON.parse(body.toString());
  if (wanted?.model !== model) return 404;
  wake(wanted);
  // At once: that the model is up shows in the router's own probes.
  return 202;
}

const server = createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end(),
  );
});

server.on('error', (error) => {
  console.error(`Cannot listen on ${address}: ${error.message}`);
  process.exit(1);
});

const colon = address.lastIndexOf(':');
server.listen(Number(address.slice(colon + 1)), address.slice(0, colon), () => {
  console.log(`listening wake-webhook http://${address.slice(0, colon)}:${server.address().port}/`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    running?.kill();
    process.exit(0);
  });
}
