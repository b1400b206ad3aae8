// A minute of a router that has a sibling map and nothing to do: it must not use it to look at its siblings.

import { startSilentSibling } from '../support/silent-sibling.ts';
import { createGround, mapDocument, push, startSite } from '../support/sites.ts';

const DOMAIN = 'idle.localhost';
const IDLE_MS = 60_000;

export async function idleSiblings(): Promise<string> {
  const ground = await createGround();
  const sibling = await startSilentSibling();
  const secrets = 'k1:0123456789abcdef0123456789abcdef';
  const site = await startSite(ground, {
    id: 'site-fr-1',
    domain: DOMAIN,
    engines: [],
    secrets,
    adminKey: 'admin-key',
  });
  try {
    const before = sibling.connections();
    const entries = [
      { site, models: {} },
      { site: { id: 'site-fr-2', url: `https://sibling.${DOMAIN}:${sibling.port}` }, models: { m: 'chat' as const } },
    ];
    await push(site, '/admin/sibling-map', mapDocument(1, entries));
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const more = sibling.connections() - before;
    if (more > 0) throw new Error(`the router opened ${more} connections to its sibling`);
    return `no connection to a sibling in ${IDLE_MS / 1000} s`;
  } finally {
    await site.kill();
    sibling.close();
    ground.remove();
  }
}
