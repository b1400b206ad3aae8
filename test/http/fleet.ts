// Several routers behind their host names in one process, and a client that follows redirects as `fetch` does: for
// tests of whole chains.

import { KEYS } from '../support/test-keys.ts';
import { createTestRouter, placement, type TestRouter } from '../support/test-router.ts';

export const SITE_IDS = ['site-a', 'site-b', 'site-c'] as const;

export interface SiteWorld {
  /** Sites at which this site's map places `m`. */
  readonly view: readonly string[];
  readonly hasAgent: boolean;
  readonly secrets?: string;
  /** The URL in every map that names this site leads to this one instead. */
  readonly misroutedTo?: string;
}

export interface Chain {
  readonly status: number;
  /** Sites that were asked, in order. */
  readonly asked: readonly string[];
  /** Sites that the 307s named, in order. */
  readonly named: readonly string[];
  readonly response: Response;
}

/** Far beyond the two redirects that may happen: more is a loop. */
const FOLLOWED_MAX = 12;

export class Fleet {
  readonly routers = new Map<string, TestRouter>();
  readonly #urlLeadsTo = new Map<string, string>();

  constructor(worlds: Readonly<Record<string, SiteWorld>>) {
    const sites = Object.keys(worlds).map((id) => ({ id, url: `https://${id}.example.com`, country: 'FR', eu: true }));
    for (const [siteId, { view, hasAgent, secrets, misroutedTo }] of Object.entries(worlds)) {
      const map = {
        schema: 3,
        version: 1,
        region: 'eu',
        sites,
        placements: view.map((site) => placement('m', 'chat', site)),
      };
      const agents = hasAgent ? [{ models: ['m'] }] : [];
      this.routers.set(
        siteId,
        createTestRouter({ siteId, map, agents, ...(secrets === undefined ? {} : { secrets }) }),
      );
      this.#urlLeadsTo.set(`${siteId}.example.com`, misroutedTo ?? siteId);
    }
  }

  /** One request at `siteId`, followed to its end. Another host takes `Authorization` away, unless the client keeps it. */
  async ask(siteId: string, client: { readonly keepsKey: boolean; readonly body?: string }): Promise<Chain> {
    const headers: Record<string, string> = { authorization: `Bearer ${KEYS['key-1']}` };
    const asked: string[] = [];
    const named: string[] = [];
    let at = siteId;
    let target = '/v1/chat/completions?beta=true';
    for (;;) {
      asked.push(at);
      const response = await this.#router(at).ask(target, client.body ?? '{"model":"m"}', headers);
      const location = response.headers.get('location');
      if (location === null || named.length === FOLLOWED_MAX) {
        return { status: response.status, asked, named, response };
      }
      const url = new URL(location);
      named.push(url.hostname.replace('.example.com', ''));
      at = this.#urlLeadsTo.get(url.hostname) ?? 'nowhere';
      target = url.pathname + url.search;
      if (!client.keepsKey) delete headers['authorization'];
    }
  }

  #router(siteId: string): TestRouter {
    const router = this.routers.get(siteId);
    if (router === undefined) throw new Error(`No router is called ${siteId}`);
    return router;
  }
}
