// npm `openai` with its own number of retries.

import OpenAI from 'openai';
import { markOf, runErrands } from './errands.mjs';

const METHODS = {
  chat: (client, body, init) => client.chat.completions.create(body, init),
  'streamed chat': (client, body, init) => client.chat.completions.create(body, init),
  embeddings: (client, body, init) => client.embeddings.create(body, init),
  rerank: (client, body, init) => client.post('/rerank', { body, ...init }),
};

await runErrands(async (errand, { origin, key }) => {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key });
  const asked = METHODS[errand.call](client, errand.body, { headers: markOf(errand) });
  const { data, response } = await asked.withResponse();
  const text = errand.body.stream ? await readStream(data) : JSON.stringify(data);
  return { status: response.status, requestId: response.headers.get('x-request-id'), text };
});

async function readStream(chunks) {
  let text = '';
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? choices[0]?.finish_reason ?? '';
  return text;
}
