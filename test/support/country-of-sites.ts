// Four sites of one country, with maps that are not all true: what the first site's map says of `moved` is out of date,
// and the fourth site signs with another secret, as after half a rotation. Taps note what reaches the engines, and what
// the first site sends to the third.

import assert from 'node:assert/strict';
import { type EngineProcess, type EngineSettings, manyAgents, startEngine, untilServing } from './router-process.ts';
import {
  createGround,
  type Ground,
  keyDocument,
  type MapEntry,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from './sites.ts';
import { startTap, type Tap, type TappedRequest } from './tap.ts';

const DOMAIN = 'sites.localhost';
const ADMIN_KEY = 'admin-key-of-the-sites';
const SECRET = '0123456789abcdef0123456789abcdef';
const OTHER_SECRET = 'fedcba9876543210fedcba9876543210';
/** Agents in front of each engine, ten slots each. */
const AGENTS = 5;
const FLAKY = ['flaky-500', 'flaky-429', 'flaky-close'];
const OF_SECOND = { m: 'chat', emb: 'embedding', rr: 'rerank' } as const;
const KEY = { id: 'key-1', secret: 'sk-of-the-only-client' };

interface Sites {
  readonly first: SiteProcess;
  readonly second: SiteProcess;
  readonly third: SiteProcess;
  readonly stranger: SiteProcess;
}

interface TappedEngine {
  readonly engine: EngineProcess;
  readonly tap: Tap;
  readonly agents: readonly Pick<EngineProcess, 'setting'>[];
}

async function tappedEngine(settings: EngineSettings): Promise<TappedEngine> {
  const engine = await startEngine(settings);
  const tap = await startTap({ behind: () => engine.url });
  return { engine, tap, agents: manyAgents({ ...engine, url: `http://127.0.0.1:${tap.port}` }, AGENTS) };
}

/** Fails by what the model's name says, each client's request once. */
async function flakyFront(ground: Ground, third: SiteProcess): Promise<Tap> {
  const failed = new Set<unknown>();
  const fails = ({ headers, body }: TappedRequest): number | 'close' | undefined => {
    const id = headers['x-request-id'];
    const failure = /"model": ?"flaky-(\w+)"/.exec(Buffer.from(body).toString())?.[1];
    if (failure === undefined || failed.has(id)) return undefined;
    failed.add(id);
    return failure === 'close' ? 'close' : Number(failure);
  };
  const identity = await ground.identity(new URL(third.url).hostname);
  return startTap({ behind: () => third.url, ca: ground.ca, identity, fails });
}

export class Country {
  readonly ground: Ground;
  readonly key = KEY;
  /** Has `local`. */
  readonly first: SiteProcess;
  /** Has `m`, `emb`, `rr` and `misrouted`; the first site believes that it has `moved`, `nowhere`, `back` and more. */
  readonly second: SiteProcess;
  /** Has `moved`, and what the first site asks of it through `front`: `flaky-500`, `flaky-429`, `flaky-close`. */
  readonly third: SiteProcess;
  /** Has `at-stranger` and another secret; the first site believes that it has `lost`, too. */
  readonly stranger: SiteProcess;
  /** Stands before the third site for whoever comes from the first; fails each request for a `flaky` model once. */
  readonly front: Tap;
  readonly #engines: readonly TappedEngine[];
  /** Every token that a test saw, to look for in everything that was printed. */
  readonly #tokens = new Set<string>();

  private constructor(ground: Ground, sites: Sites, front: Tap, engines: readonly TappedEngine[]) {
    this.ground = ground;
    this.first = sites.first;
    this.second = sites.second;
    this.third = sites.third;
    this.stranger = sites.stranger;
    this.front = front;
    this.#engines = engines;
  }

  static async start(): Promise<Country> {
    const ground = await createGround();
    const engines = await Promise.all([
      tappedEngine({ name: 'chat-1', models: ['local'] }),
      tappedEngine({ name: 'chat-2', models: ['m', 'misrouted'] }),
      tappedEngine({ name: 'embed-2', models: ['emb'], capability: 'embedding' }),
      tappedEngine({ name: 'rank-2', models: ['rr'], capability: 'reranker' }),
      tappedEngine({ name: 'chat-3', models: ['moved', ...FLAKY] }),
      tappedEngine({ name: 'chat-4', models: ['at-stranger'] }),
    ]);
    const site = (id: string, from: number, to: number, secret = SECRET) =>
      startSite(ground, {
        id,
        domain: DOMAIN,
        engines: engines.slice(from, to).flatMap(({ agents }) => agents),
        secrets: `k1:${secret}`,
        adminKey: ADMIN_KEY,
      });
    const [first, second, third, stranger] = await Promise.all([
      site('site-fr-1', 0, 1),
      site('site-fr-2', 1, 4),
      site('site-fr-3', 4, 5),
      site('site-fr-4', 5, 6, OTHER_SECRET),
    ]);
    const front = await flakyFront(ground, third);
    const country = new Country(ground, { first, second, third, stranger }, front, engines);
    await country.#push();
    return country;
  }

  get sites(): readonly SiteProcess[] {
    return [this.first, this.second, this.third, this.stranger];
  }

  /** `HOST:PORT` of every site, and of the front. */
  get hosts(): readonly string[] {
    return [...this.sites.map(({ url }) => url), this.#frontUrl].map((url) => new URL(url).host);
  }

  get tls(): { readonly ca: string } {
    return { ca: this.ground.ca };
  }

  get bearer(): { readonly authorization: string } {
    return { authorization: `Bearer ${KEY.secret}` };
  }

  /** Options of both SDKs: trust in the authority, and no retry. */
  get sdk() {
    return { fetchOptions: { tls: this.tls }, maxRetries: 0 };
  }

  /** A request of the only client that follows no redirect. `more` may show the key, or not. */
  post(url: string, body: object, more: RequestInit = {}): Promise<Response> {
    return fetch(url, { ...more, method: 'POST', body: JSON.stringify(body), redirect: 'manual', tls: this.tls });
  }

  /** Remembers the token in a URL that the sites made, and hands the URL on. */
  noteToken(url: string | null): string {
    const token = new URL(url ?? '').searchParams.get('rt');
    assert.ok(token, 'the URL holds no token');
    this.#tokens.add(token);
    return url ?? '';
  }

  /**
   * Looks for tokens, keys and secrets in every line that any site or engine has printed, in every site's metrics and in
   * every request that reached an engine.
   */
  async assertNothingLeaked(): Promise<void> {
    const printed = this.sites.flatMap(({ stdout, stderr }) => [...stdout, ...stderr]);
    assert.ok(this.#tokens.size > 5, `only ${this.#tokens.size} tokens were seen`);
    assert.ok(printed.filter((line) => line.includes('rt=REDACTED')).length >= this.#tokens.size);
    const metrics = await Promise.all(
      this.sites.map(async ({ metricsUrl }) => (await fetch(`${metricsUrl}/metrics`)).text()),
    );
    const forwarded = this.#engines.flatMap(({ tap }) => tap.seen.map(textOf));
    assert.ok(
      forwarded.some((text) => text.includes('"messages"')),
      'no engine was asked',
    );
    const engines = this.#engines.flatMap(({ engine: { stdout, stderr } }) => [...stdout, ...stderr]);
    const claims = [...this.#tokens].flatMap((token) => token.split('.').slice(2));
    const secrets = [...claims, ADMIN_KEY, SECRET, OTHER_SECRET, KEY.secret];
    for (const text of [...printed, ...metrics, ...engines, ...forwarded]) {
      assert.doesNotMatch(text, /v2\.[\w-]+\.[\w-]+|[?&]rt=(?!REDACTED)/);
      for (const secret of secrets) assert.ok(!text.includes(secret), `a secret stands in: ${text.slice(0, 40)}…`);
    }
  }

  async kill(): Promise<void> {
    await Promise.all([...this.sites, ...this.#engines.map(({ engine }) => engine)].map((running) => running.kill()));
    for (const tap of [this.front, ...this.#engines.map(({ tap }) => tap)]) tap.close();
    this.ground.remove();
  }

  get #frontUrl(): string {
    return `https://${new URL(this.third.url).hostname}:${this.front.port}`;
  }

  async #push(): Promise<void> {
    const { first, second, third, stranger } = this;
    const flaky = Object.fromEntries(FLAKY.map((model) => [model, 'chat' as const]));
    const stale: readonly MapEntry[] = [
      { site: first, models: { local: 'chat' } },
      { site: second, models: { ...OF_SECOND, moved: 'chat', nowhere: 'chat', back: 'chat', 'lost-later': 'chat' } },
      { site: { id: third.id, url: this.#frontUrl }, models: flaky },
      { site: stranger, models: { 'at-stranger': 'chat', lost: 'chat' } },
      { site: { id: 'site-fr-5', url: third.url }, models: { misrouted: 'chat' } },
    ];
    const fresh: readonly MapEntry[] = [
      // Whoever believed this and trusted no token would send `lost`, `nowhere` and `back` in circles.
      { site: first, models: { local: 'chat', lost: 'chat', nowhere: 'chat', back: 'chat' } },
      { site: second, models: { ...OF_SECOND, misrouted: 'chat', lost: 'chat', nowhere: 'chat' } },
      { site: third, models: { moved: 'chat', ...flaky, nowhere: 'chat' } },
      { site: stranger, models: { 'at-stranger': 'chat', 'lost-later': 'chat' } },
    ];
    for (const site of this.sites) {
      await push(site, '/admin/api-keys/replace', keyDocument([KEY]));
      await push(site, '/admin/sibling-map', site === first ? mapDocument(1, stale) : mapDocument(2, fresh));
    }
    const client = { headers: this.bearer, tls: this.tls };
    await Promise.all([
      untilServing(first, ['local'], client),
      untilServing(second, ['m', 'misrouted', 'emb', 'rr'], client),
      untilServing(third, ['moved', ...FLAKY], client),
      untilServing(stranger, ['at-stranger'], client),
    ]);
  }
}

function textOf({ method, target, headers, body }: TappedRequest): string {
  return [method, target, ...Object.entries(headers).flat(), Buffer.from(body)].join('\n');
}
