// What the demo runs: two sites over HTTPS and four mock engines. The first site serves one chat model of its own; what
// a client asks of it beside that model only the second site has.

import { randomBytes } from 'node:crypto';
import { type EngineProcess, startEngine, untilServing } from '../support/router-process.ts';
import {
  type ClientKey,
  createGround,
  type Ground,
  keyDocument,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const DOMAIN = 'demo.localhost';

/** Models by what they are for, and the engines that serve them. `local` is the first site's, all others the second's. */
export const MODELS = {
  local: { id: 'llama-3-8b', engine: 'chat-fr-1' },
  chat: { id: 'llama-3-70b', engine: 'chat-fr-2' },
  embedding: { id: 'bge-m3', engine: 'embed-fr-2' },
  rerank: { id: 'bge-reranker-v2', engine: 'rerank-fr-2' },
} as const;

const FIRST_MODELS = { [MODELS.local.id]: 'chat' } as const;
const SECOND_MODELS = {
  [MODELS.chat.id]: 'chat',
  [MODELS.embedding.id]: 'embedding',
  [MODELS.rerank.id]: 'rerank',
} as const;

export interface Fleet {
  readonly ground: Ground;
  readonly adminKey: string;
  /** Two keys that both sites know. */
  readonly keys: readonly [ClientKey, ClientKey];
  /** The only site that the demo's clients are told of. */
  readonly first: SiteProcess;
  readonly second: SiteProcess;
  readonly mapVersion: number;
}

/** Something that runs until it is stopped. */
interface Stoppable {
  stop(): Promise<unknown>;
}

/** Everything that was started, so that all of it can be ended, also after a start that failed half-way. */
export class Started {
  readonly #running: Stoppable[] = [];
  #ground: Ground | undefined;

  /** Keeps what starts, and hands it on. */
  async add<Running extends Stoppable>(starting: Promise<Running>): Promise<Running> {
    const running = await starting;
    this.#running.push(running);
    return running;
  }

  async ground(): Promise<Ground> {
    this.#ground = await createGround();
    return this.#ground;
  }

  /** Ends every process and removes the folder. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#running.toReversed().map((running) => running.stop()));
    this.#ground?.remove();
  }
}

/** Starts everything, pushes keys and map to both sites, and waits until every model is served. */
export async function startFleet(started: Started): Promise<Fleet> {
  const ground = await started.ground();
  const adminKey = secret();
  const keys = [newKey('key-openai'), newKey('key-anthropic')] as const;
  const [local, ...others] = await startEngines(started);
  const common = { domain: DOMAIN, secrets: `k1:${secret()}`, adminKey };
  const [first, second] = await Promise.all([
    started.add(startSite(ground, { ...common, id: 'site-fr-1', engines: [local] })),
    started.add(startSite(ground, { ...common, id: 'site-fr-2', engines: others })),
  ]);
  const mapVersion = Math.floor(Date.now() / 1000);
  const map = mapDocument(mapVersion, [
    { site: first, models: FIRST_MODELS },
    { site: second, models: SECOND_MODELS },
  ]);
  for (const site of [first, second]) {
    await push(site, '/admin/api-keys/replace', keyDocument(keys));
    await push(site, '/admin/sibling-map', map);
  }
  const client = { headers: { authorization: `Bearer ${keys[0].secret}` }, tls: { ca: ground.ca } };
  await untilServing(first, Object.keys(FIRST_MODELS), client);
  await untilServing(second, Object.keys(SECOND_MODELS), client);
  return { ground, adminKey, keys, first, second, mapVersion };
}

function startEngines(started: Started): Promise<[EngineProcess, EngineProcess, EngineProcess, EngineProcess]> {
  const engine = ({ id, engine: name }: { id: string; engine: string }, capability: EngineProcess['capability']) =>
    started.add(startEngine({ name, models: [id], capability }));
  return Promise.all([
    engine(MODELS.local, 'llm'),
    engine(MODELS.chat, 'llm'),
    engine(MODELS.embedding, 'embedding'),
    engine(MODELS.rerank, 'reranker'),
  ]);
}

function newKey(id: string): ClientKey {
  return { id, secret: `sk-${secret()}` };
}

export function secret(): string {
  return randomBytes(24).toString('hex');
}
