// Four sites of one country, with maps that are not all true: what the first site's map says of `moved` is out of date,
// and the fourth site signs with another secret, as after half a rotation.

import assert from 'node:assert/strict';
import { type EngineProcess, startEngine, untilServing } from '../support/router-process.ts';
import {
  createGround,
  type Ground,
  keyDocument,
  type MapEntry,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const DOMAIN = 'sites.localhost';
const ADMIN_KEY = 'admin-key-of-the-sites';
const SECRET = '0123456789abcdef0123456789abcdef';
const OTHER_SECRET = 'fedcba9876543210fedcba9876543210';
const KEY = { id: 'key-1', secret: 'sk-of-the-only-client' };

interface Sites {
  readonly first: SiteProcess;
  readonly second: SiteProcess;
  readonly third: SiteProcess;
  readonly stranger: SiteProcess;
}

export class Country {
  readonly ground: Ground;
  readonly key = KEY;
  /** Has `local`. */
  readonly first: SiteProcess;
  /** Has `m`, `emb` and `rr`; the first site believes that it has `moved`, too. */
  readonly second: SiteProcess;
  /** Has `moved`. */
  readonly third: SiteProcess;
  /** Has `at-stranger` and another secret; the first site believes that it has `lost`, too. */
  readonly stranger: SiteProcess;
  readonly #engines: readonly EngineProcess[];
  /** Every token that a test saw, to look for in everything that was printed. */
  readonly #tokens = new Set<string>();

  private constructor(ground: Ground, sites: Sites, engines: readonly EngineProcess[]) {
    this.ground = ground;
    this.first = sites.first;
    this.second = sites.second;
    this.third = sites.third;
    this.stranger = sites.stranger;
    this.#engines = engines;
  }

  static async start(): Promise<Country> {
    const ground = await createGround();
    const engines = await Promise.all([
      startEngine({ name: 'chat-1', models: ['local'] }),
      startEngine({ name: 'chat-2', models: ['m'] }),
      startEngine({ name: 'embed-2', models: ['emb'], capability: 'embedding' }),
      startEngine({ name: 'rank-2', models: ['rr'], capability: 'reranker' }),
      startEngine({ name: 'chat-3', models: ['moved'] }),
      startEngine({ name: 'chat-4', models: ['at-stranger'] }),
    ]);
    const site = (id: string, from: number, to: number, secret = SECRET) =>
      startSite(ground, {
        id,
        domain: DOMAIN,
        engines: engines.slice(from, to),
        secrets: `k1:${secret}`,
        adminKey: ADMIN_KEY,
      });
    const [first, second, third, stranger] = await Promise.all([
      site('site-fr-1', 0, 1),
      site('site-fr-2', 1, 4),
      site('site-fr-3', 4, 5),
      site('site-fr-4', 5, 6, OTHER_SECRET),
    ]);
    const country = new Country(ground, { first, second, third, stranger }, engines);
    await country.#push();
    return country;
  }

  get sites(): readonly SiteProcess[] {
    return [this.first, this.second, this.third, this.stranger];
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

  /** Looks for tokens, keys and secrets in every line that any site has printed. */
  assertNothingLeaked(): void {
    const printed = this.sites.flatMap(({ stdout, stderr }) => [...stdout, ...stderr]);
    assert.ok(this.#tokens.size > 5, `only ${this.#tokens.size} tokens were seen`);
    assert.ok(printed.filter((line) => line.includes('rt=REDACTED')).length >= this.#tokens.size);
    const claims = [...this.#tokens].flatMap((token) => token.split('.').slice(2));
    const secrets = [...claims, ADMIN_KEY, SECRET, OTHER_SECRET, KEY.secret];
    for (const line of printed) {
      assert.doesNotMatch(line, /v2\.[\w-]+\.[\w-]+|rt=(?!REDACTED)/);
      for (const secret of secrets) assert.ok(!line.includes(secret), `a secret stands in: ${line.slice(0, 40)}…`);
    }
  }

  async kill(): Promise<void> {
    await Promise.all([...this.sites, ...this.#engines].map((running) => running.kill()));
    this.ground.remove();
  }

  async #push(): Promise<void> {
    const { first, second, third, stranger } = this;
    const stale: readonly MapEntry[] = [
      { site: first, models: { local: 'chat' } },
      { site: second, models: { m: 'chat', emb: 'embedding', rr: 'rerank', moved: 'chat' } },
      { site: third, models: {} },
      { site: stranger, models: { 'at-stranger': 'chat', lost: 'chat' } },
    ];
    const fresh: readonly MapEntry[] = [
      // Whoever believed this and trusted no hop count would send `lost` in circles.
      { site: first, models: { local: 'chat', lost: 'chat' } },
      { site: second, models: { m: 'chat', emb: 'embedding', rr: 'rerank', lost: 'chat' } },
      { site: third, models: { moved: 'chat' } },
      { site: stranger, models: { 'at-stranger': 'chat' } },
    ];
    for (const site of this.sites) {
      await push(site, '/admin/api-keys/replace', keyDocument([KEY]));
      await push(site, '/admin/sibling-map', site === first ? mapDocument(1, stale) : mapDocument(2, fresh));
    }
    const client = { headers: this.bearer, tls: this.tls };
    await Promise.all([
      untilServing(first, ['local'], client),
      untilServing(second, ['m', 'emb', 'rr'], client),
      untilServing(third, ['moved'], client),
      untilServing(stranger, ['at-stranger'], client),
    ]);
  }
}
