// Measuring a prompt without building its tree, against building it. It is a step of every chat request, so it must not
// cost more than the parse that it spares a large body.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { readPrompt } from '../src/admission/prompt.ts';
import { complete } from '../src/lib/steps.ts';
import { type Measured, report } from './report.ts';

const LINE = 'The quick brown fox jumps over the lazy dog.\n';

function measuring(name: string, bytes: number, atMost: number): Measured {
  const messages = Array.from({ length: 10 }, () => ({ role: 'user', content: LINE.repeat(bytes / LINE.length / 10) }));
  const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 100, messages }));
  const textBytes = messages.reduce((sum, { content }) => sum + content.length, 0);
  const run = () => complete(readPrompt(body));
  assert.deepEqual(run(), { textBytes, messageCount: 10, imageCount: 0, answerCount: 1, declaredOutputTokens: 100 });
  return { name, run, floor: () => JSON.parse(body.toString()), atMost };
}

await report('Prompt', [
  measuring('read, 1 KiB', 1_024, 8),
  measuring('read, 32 KiB', 32_768, 2),
  measuring('read, 1 MiB', 1_048_576, 2),
]);
