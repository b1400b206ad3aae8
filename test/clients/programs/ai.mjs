// npm `ai` with its provider for servers that speak as OpenAI does, and its own number of retries.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateText, streamText } from 'ai';
import { markOf, runErrands } from './errands.mjs';

await runErrands(async (errand, { origin, key }) => {
  const provider = createOpenAICompatible({ name: 'site', baseURL: `${origin}/v1`, apiKey: key });
  const { model, messages, input } = errand.body;
  const headers = markOf(errand);
  if (errand.call === 'embeddings') {
    const { response, embedding } = await embed({ model: provider.embeddingModel(model), value: input, headers });
    return answerOf(response, `"embedding":${JSON.stringify(embedding)}`);
  }
  const request = { model: provider(model), prompt: messages[0].content, headers };
  if (errand.call === 'chat') {
    const { response, text } = await generateText(request);
    return answerOf(response, text);
  }
  let failure;
  const stream = streamText({ ...request, onError: ({ error }) => (failure = error) });
  let text = '';
  for await (const part of stream.textStream) text += part;
  if (failure !== undefined) throw failure;
  return answerOf(await stream.response, `${text}${await stream.finishReason}`);
});

/** The package returns without an exception only from a 200. */
function answerOf(response, text) {
  return { status: 200, requestId: response.headers?.['x-request-id'], text };
}
