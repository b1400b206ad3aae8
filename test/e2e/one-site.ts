// One router with cross-site redirect off, whose callers show pushed keys, in front of mock engines of every capability.

import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';
import { keyDocument } from '../support/sites.ts';

export const API_KEY = { id: 'key-1', secret: 'sk-of-the-tests' } as const;
export const BEARER = { authorization: `Bearer ${API_KEY.secret}` } as const;
/** Tokens a second of the engine behind the model `paced`. */
export const PACE = 50;

/** Headers for the Anthropic SDK that show a key in `x-api-key` only; by itself the package shows a bearer token. */
export function showingApiKey(secret: string): Readonly<Record<string, string | null>> {
  return { 'x-api-key': secret, authorization: null };
}

export interface OneSite {
  readonly router: RouterProcess;
  readonly engines: readonly EngineProcess[];
  kill(): Promise<void>;
}

/** Models: `chat` and `acme/chat` as fast as can be, `paced`, `embed`, `rank`, each by an engine of its own. */
export async function startOneSite(): Promise<OneSite> {
  const engines = await Promise.all([
    startEngine({ name: 'fast', models: ['chat', 'acme/chat'] }),
    startEngine({ name: 'slow', models: ['paced'], args: ['--tokens-per-second', String(PACE)] }),
    startEngine({ name: 'vectors', models: ['embed'], capability: 'embedding' }),
    startEngine({ name: 'order', models: ['rank'], capability: 'reranker' }),
  ]);
  const router = await startRouter(['--auth-mode', 'dynamic', ...engineFlags(engines)]);
  const pushed = await fetch(`${router.url}/admin/api-keys/replace`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify(keyDocument([API_KEY])),
  });
  if (pushed.status !== 200) throw new Error(`Keys were refused: ${await pushed.text()}`);
  await untilServing(router, ['chat', 'acme/chat', 'paced', 'embed', 'rank'], { headers: BEARER });
  return {
    router,
    engines,
    kill: async () => void (await Promise.all([router, ...engines].map((running) => running.kill()))),
  };
}

/** Milliseconds between the first and the last item, and how many there were. */
export async function paceOf(
  items: AsyncIterable<unknown>,
): Promise<{ readonly count: number; readonly spanMs: number }> {
  const arrivedMs: number[] = [];
  for await (const _item of items) arrivedMs.push(performance.now());
  return { count: arrivedMs.length, spanMs: (arrivedMs.at(-1) ?? 0) - (arrivedMs[0] ?? 0) };
}
