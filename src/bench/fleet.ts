// What `bench` measures: two routers and an engine of this very binary, with settings made for the occasion. The first
// site has no agent and redirects to the second, which has one; both know one API key.

import { createHash, randomBytes } from 'node:crypto';
import { Child } from './child.ts';

export const MODEL = 'bench-model';
const SITES = ['bench-a', 'bench-b'] as const;
const DOMAIN = 'bench.localhost';
/** More than a benchmark asks for at once: it is the router that is measured, not its queue. */
const CAPACITY = 10_000;
/** Longest wait until the second site serves. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 20;

/** Before a command: it ends with its standard input, so that nothing is left when this process is killed. */
const TIED = ['bench', 'child'];

export interface RouterChild {
  readonly child: Child;
  readonly port: number;
}

export interface Fleet {
  readonly redirecting: RouterChild;
  readonly serving: RouterChild;
  /** A secret that both sites know as a key. */
  readonly apiKey: string;
}

/**
 * `started` is given each process as it starts, so that whoever ends early can end them. `engineUrl`: an engine that runs
 * already, in place of a mock engine. `adminKey`: one that somebody else will show as well.
 */
export async function startFleet(
  self: readonly string[],
  started: (child: Child) => void,
  engineUrl?: string,
  adminKey: string = secretText(),
): Promise<Fleet> {
  const [apiKey, secret] = [secretText(), `k1:${secretText()}`];
  const begin = (args: readonly string[], environment = {}): Child => {
    const child = new Child([...self, ...TIED, ...args], environment);
    started(child);
    return child;
  };
  const startEngine = (): Promise<string> =>
    begin(['mock-engine', '--port', '127.0.0.1:0', '--name', 'bench', '--models', MODEL]).after(
      'listening mock-engine ',
    );
  const backendUrl = engineUrl ?? (await startEngine());
  const startRouter = async (site: (typeof SITES)[number]): Promise<RouterChild> => {
    const child = begin(routerFlags(site), {
      HIVENET_ROUTER_REDIRECT_SECRETS: secret,
      HIVENET_ROUTER_ADMIN_API_KEYS: adminKey,
    });
    const url = new URL(await child.after('listening http '));
    child.ignoreOutput();
    return { child, port: Number(url.port) };
  };
  const [redirecting, serving] = await Promise.all([startRouter(SITES[0]), startRouter(SITES[1])]);
  const admin = (router: RouterChild) => adminOf(router.port, adminKey);
  for (const router of [redirecting, serving]) {
    await admin(router)('POST', '/admin/sibling-map', mapDocument(redirecting.port, serving.port));
    await admin(router)('POST', '/admin/api-keys/replace', keyDocument(apiKey));
  }
  await admin(serving)('PUT', '/admin/agents/bench-engine', {
    engine: 'vllm',
    backend_url: backendUrl,
    capability: 'llm',
    models: [MODEL],
    capacity: CAPACITY,
  });
  await untilHealthy(serving.port, apiKey);
  return { redirecting, serving, apiKey };
}

function secretText(): string {
  return randomBytes(24).toString('hex');
}

function routerFlags(site: string): readonly string[] {
  const listeners = ['--http-port', '127.0.0.1:0', '--metrics-port', '127.0.0.1:0'];
  const redirect = ['--site-id', site, '--redirect-allowed-domains', `.${DOMAIN}`, '--redirect-token-ttl', '1h'];
  return ['serve', ...listeners, ...redirect, '--auth-mode', 'dynamic'];
}

function mapDocument(...ports: readonly number[]): object {
  const [, second] = SITES;
  return {
    schema: 3,
    version: 1,
    region: 'bench',
    sites: SITES.map((id, index) => ({ id, url: `https://${id}.${DOMAIN}:${ports[index]}`, country: 'FR', eu: true })),
    placements: [{ model: MODEL, kind: 'chat', site: second, scale_from_zero: false }],
  };
}

function keyDocument(apiKey: string): object {
  const hash = createHash('sha256').update(apiKey).digest('hex');
  return { version: '1', keys: [{ id: 'bench', key_hash: hash, owner: 'bench', name: 'bench', enabled: true }] };
}

function adminOf(port: number, key: string) {
  return async (method: string, path: string, document: object): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(document) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`The router refused ${method} ${path}: ${answer.status} ${text}`);
  };
}

async function untilHealthy(port: number, apiKey: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  const headers = { authorization: `Bearer ${apiKey}` };
  while (performance.now() < endMs) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models/${MODEL}`, { headers });
    if ((await answer.text()).includes('"healthy":1')) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error('The router does not find the engine healthy');
}
