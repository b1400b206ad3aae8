// npm `@anthropic-ai/sdk` with its own number of retries. By itself it shows a bearer token; with `x-api-key` as first
// argument the key goes as in its older versions, which no redirect takes off.

import process from 'node:process';
import Anthropic from '@anthropic-ai/sdk';
import { markOf, runErrands } from './errands.mjs';

const METHODS = {
  messages: (client, body, init) => client.messages.create(body, init),
  'streamed messages': (client, body, init) => client.messages.create(body, init),
  // As the beta calls of older versions did by themselves.
  'beta messages': (client, body, init) => client.messages.create(body, { ...init, query: { beta: true } }),
  'count tokens': (client, body, init) => client.messages.countTokens(body, init),
};

await runErrands(async (errand, { origin, key }) => {
  const defaultHeaders = process.argv[2] === 'x-api-key' ? { 'x-api-key': key, authorization: null } : {};
  const client = new Anthropic({ baseURL: origin, apiKey: key, defaultHeaders });
  const asked = METHODS[errand.call](client, errand.body, { headers: markOf(errand) });
  const { data, response } = await asked.withResponse();
  const text = errand.body.stream ? await readStream(data) : JSON.stringify(data);
  return { status: response.status, requestId: response.headers.get('x-request-id'), text };
});

async function readStream(events) {
  let text = '';
  for await (const event of events) text += event.delta?.text ?? (event.type === 'message_stop' ? 'message_stop' : '');
  return text;
}
