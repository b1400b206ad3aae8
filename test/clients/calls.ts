// The calls that clients make, as data: path, body, and what only a whole answer holds, whether a client shows its user
// the bytes or what it read from them.

export interface Call {
  /** Path and query. */
  readonly path: string;
  readonly body: (model: string) => object;
  readonly answer: RegExp;
}

const TEXT = /engine [\w-]+, model [\w-]+: /;
const QUESTION = { role: 'user', content: 'Hello' };
const chat = (model: string): object => ({ model, messages: [QUESTION] });
const messages = (model: string): object => ({ ...chat(model), max_tokens: 64 });

const CALL_TABLE = {
  chat: { path: '/v1/chat/completions', body: chat, answer: TEXT },
  'streamed chat': {
    path: '/v1/chat/completions',
    body: (model) => ({ ...chat(model), stream: true }),
    answer: /data: \[DONE\]\n\n$|^engine [\w-]+, model [\w-]+: .*stop$/s,
  },
  /** So large that curl asks for `100 Continue` first. */
  'chat of 2 MB': {
    path: '/v1/chat/completions',
    body: (model) => ({ model, messages: [{ role: 'user', content: 'a'.repeat(2_000_000) }] }),
    answer: TEXT,
  },
  messages: { path: '/v1/messages', body: messages, answer: TEXT },
  'beta messages': { path: '/v1/messages?beta=true', body: messages, answer: TEXT },
  'streamed messages': {
    path: '/v1/messages',
    body: (model) => ({ ...messages(model), stream: true }),
    answer: /message_stop/,
  },
  'count tokens': { path: '/v1/messages/count_tokens', body: chat, answer: /"input_tokens": ?\d/ },
  embeddings: {
    path: '/v1/embeddings',
    body: (model) => ({ model, input: 'Hello' }),
    answer: /"embedding": ?\[-?[0-9.e-]+,/,
  },
  rerank: {
    path: '/v1/rerank',
    body: (model) => ({ model, query: 'light', documents: ['dark', 'light'] }),
    answer: /"index": ?1\b.*"index": ?0\b/s,
  },
} as const satisfies Readonly<Record<string, Call>>;

export type CallName = keyof typeof CALL_TABLE;

export const CALLS: Readonly<Record<CallName, Call>> = CALL_TABLE;

/** What a client without opinions on the body can send. */
export const SMALL_CALLS: readonly CallName[] = [
  'chat',
  'streamed chat',
  'messages',
  'beta messages',
  'streamed messages',
  'count tokens',
  'embeddings',
  'rerank',
];
