// Request bodies of a size: chat as clients send it, with quotes, line breaks and letters beyond ASCII in it.

import { Buffer } from 'node:buffer';

export const KIB = 1_024;
export const MIB = 1_048_576;

const SENTENCE = 'The quick brown fox said: "Répondez, s\'il vous plaît — and soon."\n';

/** A chat request of exactly `bytes` bytes, of turns of up to 2 KiB. */
export function chatBody(bytes: number, model = 'llama-3-70b', more: object = {}): Buffer<ArrayBuffer> {
  const messages: { role: string; content: string }[] = [];
  const size = () => Buffer.byteLength(JSON.stringify({ model, messages, ...more }));
  for (let left = bytes - size() - 60; left > 0; ) {
    const content = SENTENCE.repeat(1 + (messages.length % 30)).slice(0, left);
    const turn = { role: messages.length % 2 === 0 ? 'user' : 'assistant', content };
    messages.push(turn);
    left -= Buffer.byteLength(JSON.stringify(turn)) + 1;
  }
  const missing = bytes - size() - '{"role":"user","content":""},'.length;
  messages.push({ role: 'user', content: 'a'.repeat(Math.max(0, missing + 1)) });
  return Buffer.from(JSON.stringify({ model, messages, ...more }));
}
