// One site whose map says that its models wake when they are asked for: the compiled binary over plain HTTP, whose
// engine comes and goes.

import { createServer } from 'node:net';
import { ADMIN_KEY, type RouterProcess, startRouter } from './router-process.ts';

const SITE = 'site-fr-1';
/** Flags and variables of cross-site redirect, which holding needs. */
export const CROSS_SITE = ['--site-id', SITE, '--redirect-allowed-domains', '.example.com'];
export const SECRETS = { HIVENET_ROUTER_REDIRECT_SECRETS: 'k1:0123456789abcdef0123456789abcdef' };

export interface SleepingSite extends RouterProcess {
  /** Pushes a map that places these models here, each by a placement with these fields. */
  place(models: readonly string[], fields?: object): Promise<void>;
  /** Value of a metric line, such as `hivenet_hold_requests{model="m"}`; undefined without one. */
  metric(series: string): Promise<number | undefined>;
}

/** `engine` is a value of `--engine`, or several. Models wake once they are placed. */
export async function startSleepingSite(
  engines: readonly string[],
  args: readonly string[] = [],
): Promise<SleepingSite> {
  const settings = engines.flatMap((engine) => ['--engine', engine]);
  const router = await startRouter([...CROSS_SITE, ...settings, ...args], SECRETS);
  let version = 0;
  const place: SleepingSite['place'] = (models, fields) => {
    version += 1;
    return pushMap(router.url, mapOf(version, models, fields));
  };
  const metric: SleepingSite['metric'] = async (series) => {
    const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
  return { ...router, place, metric };
}

/** The map that has these models wake here. */
export function mapOf(version: number, models: readonly string[], fields: object = {}): object {
  const sites = [{ id: SITE, url: `https://${SITE}.example.com`, country: 'FR', eu: true }];
  const placements = models.map((model) => ({ model, kind: 'chat', site: SITE, scale_from_zero: true, ...fields }));
  return { schema: 3, version, region: 'eu', sites, placements };
}

export async function pushMap(url: string, map: object): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const answer = await fetch(`${url}/admin/sibling-map`, { method: 'POST', headers, body: JSON.stringify(map) });
  if (answer.status !== 200) throw new Error(`The map was refused: ${await answer.text()}`);
}

/** A loopback port on which nothing listens now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
