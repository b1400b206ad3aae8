// The compiled binary as a router or as a mock engine, on free ports.

import './no-proxy.ts';
import { BARE_ENV, BINARY, type RunningProcess, start } from './child-process.ts';
import { eventually } from './eventually.ts';

export const ADMIN_KEY = 'admin-key-of-the-tests';

export interface RouterProcess extends RunningProcess {
  /** `http://127.0.0.1:PORT` or `https://127.0.0.1:PORT`. */
  readonly url: string;
  readonly metricsUrl: string;
}

export interface EngineProcess extends RunningProcess {
  readonly url: string;
  readonly capability: EngineCapability;
  /** The value of `--engine` that makes a router serve from it. */
  readonly setting: string;
}

type EngineCapability = 'llm' | 'embedding' | 'reranker';

export interface EngineSettings {
  /** Stands in every generated answer. */
  readonly name: string;
  readonly models: readonly string[];
  readonly capability?: EngineCapability;
  /** A free one unless given. */
  readonly port?: number;
  /** More flags, such as `--ttft`. */
  readonly args?: readonly string[];
}

/** Starts `serve` with `args`, on free loopback ports if they name none, and resolves once it listens. */
export async function startRouter(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<RouterProcess> {
  const ports = ['--http-port', '--metrics-port'].filter((flag) => !args.includes(flag));
  const free = ports.flatMap((flag) => [flag, '127.0.0.1:0']);
  const bare = { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY };
  const running = start([BINARY, 'serve', ...free, ...args], { ...bare, ...env }, cwd);
  const url = await urlAfter(running, 'listening http ');
  return { ...running, url, metricsUrl: await urlAfter(running, 'listening metrics ') };
}

/** Starts `mock-engine` on a loopback port and resolves once it listens. */
export async function startEngine(settings: EngineSettings): Promise<EngineProcess> {
  const { name, models, capability = 'llm', port = 0, args = [] } = settings;
  const flags = ['--name', name, '--models', models.join(','), '--capability', capability, ...args];
  const running = start([BINARY, 'mock-engine', '--port', `127.0.0.1:${port}`, ...flags], BARE_ENV);
  const url = await urlAfter(running, 'listening mock-engine ');
  return { ...running, url, capability, setting: `vllm:${capability}=${url}` };
}

/**
 * One engine as `count` agents of its own, each under another name of this machine, because an agent has ten slots.
 */
export function manyAgents(engine: EngineProcess, count: number): readonly Pick<EngineProcess, 'setting'>[] {
  const { port } = new URL(engine.url);
  return Array.from({ length: count }, (_, index) => ({
    setting: `vllm:${engine.capability}=http://agent-${index}.localhost:${port}`,
  }));
}

/** Flags that make a router serve from all of them. */
export function engineFlags(engines: readonly Pick<EngineProcess, 'setting'>[]): readonly string[] {
  return engines.flatMap(({ setting }) => ['--engine', setting]);
}

/** Resolves once `GET /v1/models` of the router shows a healthy agent for every one of `models`. */
export async function untilServing(
  router: { readonly url: string },
  models: readonly string[],
  init: RequestInit = {},
): Promise<void> {
  await eventually(`healthy agents for ${models.join(', ')} at ${router.url}`, async () => {
    const answer = (await (await fetch(`${router.url}/v1/models`, init)).json()) as ModelList;
    const isHealthy = (model: string) => answer.data.some(({ id, agents }) => id === model && agents.healthy > 0);
    return models.every(isHealthy) || undefined;
  });
}

/** Resolves once `GET /v1/models/MODEL` of the router shows that many healthy agents. */
export async function untilHealthy(router: { readonly url: string }, model: string, count: number): Promise<void> {
  await eventually(`${count} healthy agents for ${model}`, async () => {
    const answer = (await (await fetch(`${router.url}/v1/models/${model}`)).json()) as ModelList['data'][number];
    return answer.agents.healthy === count || undefined;
  });
}

interface ModelList {
  readonly data: readonly { readonly id: string; readonly agents: { readonly healthy: number } }[];
}

/** The engine's own count of requests that it works on. */
export async function runningRequests(engine: Pick<EngineProcess, 'url'>): Promise<number> {
  const text = await (await fetch(`${engine.url}/metrics`)).text();
  return Number(/^vllm:num_requests_running\S* (\d+)$/m.exec(text)?.[1]);
}

/** The value of a metric without labels. */
export async function metricOf({ metricsUrl }: Pick<RouterProcess, 'metricsUrl'>, name: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function urlAfter(running: RunningProcess, prefix: string): Promise<string> {
  const line = await running.line((candidate) => candidate.startsWith(prefix));
  return line.slice(prefix.length);
}
