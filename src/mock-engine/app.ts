// The engine as one application: what it serves, and in which order a request can be refused.

import { Hono } from 'hono';
import { chatCompletions } from './chat-completions.ts';
import { embeddings } from './embeddings.ts';
import type { EngineEndpoint } from './endpoint.ts';
import { countMessageTokens, messages } from './messages.ts';
import { createEngineMetrics } from './metrics.ts';
import { dialectOf, refuse } from './refusal.ts';
import { rerank } from './rerank.ts';
import type { MockEnginePorts, Silence, Turn } from './running-request.ts';
import type { Capability, MockEngineSettings } from './settings.ts';

const ENDPOINTS: Readonly<Record<Capability, readonly EngineEndpoint[]>> = {
  llm: [chatCompletions, messages, countMessageTokens],
  embedding: [embeddings],
  reranker: [rerank],
};

const NO_CONNECTION: Silence = { allowSilence: () => undefined, endSilence: () => undefined };

export interface MockEngine {
  /** Answers one request; the runtime's connection, where there is one, is kept open through long silences. */
  readonly fetch: (request: Request, connection?: Silence) => Promise<Response>;
}

/** An engine that starts now: `startDelayMs` counts from here. */
export function createMockEngine(settings: MockEngineSettings, ports: MockEnginePorts): MockEngine {
  const { name, models, startDelayMs } = settings;
  const metrics = createEngineMetrics(models[0] ?? '');
  const startedMs = ports.nowMs();
  let count = 0;
  const turnOf = (request: Request, silence: Silence): Turn => {
    count += 1;
    return { settings, ports, metrics, silence, clientGone: request.signal, number: count };
  };

  const app = new Hono<{ Bindings: Silence }>();
  app.use(async (c, next) => {
    await next();
    c.header('x-mock-engine', name);
  });
  app.get('/metrics', async (c) => c.body(await metrics.expose(), 200, { 'content-type': metrics.contentType }));
  app.use(async (c, next) => {
    if (ports.nowMs() - startedMs >= startDelayMs) return next();
    return refuse(dialectOf(c.req.path), 503, `Engine "${name}" is still starting`);
  });
  app.get('/health', (c) => c.body(null, 200));
  app.get('/v1/models', (c) => c.json(modelList(models, startedMs)));
  app.get('/models', (c) => c.json(modelList(models, startedMs)));
  app.get('/api/tags', (c) => c.json({ models: models.map(ollamaModel) }));
  for (const endpoint of ENDPOINTS[settings.capability]) {
    app.post(endpoint.path, (c) => answer(endpoint, c.req.raw, () => turnOf(c.req.raw, c.env)));
  }
  app.notFound((c) => refuse(dialectOf(c.req.path), 404, `Engine "${name}" has no ${c.req.method} ${c.req.path}`));

  return { fetch: async (request, connection = NO_CONNECTION) => app.fetch(request, connection) };
}

/** The turn is made once the body is read, because only then may the connection fall silent. */
async function answer(endpoint: EngineEndpoint, request: Request, takeTurn: () => Turn): Promise<Response> {
  const dialect = dialectOf(endpoint.path);
  const body = endpoint.read(await request.text());
  if (!body.ok) return refuse(dialect, 400, body.fault);
  const turn = takeTurn();
  const { name, models, errorRate } = turn.settings;
  if (!models.includes(body.value.model)) {
    return refuse(dialect, 404, `The model \`${body.value.model}\` does not exist at engine "${name}".`);
  }
  if (turn.ports.chance() < errorRate) return refuse(dialect, 500, `Engine "${name}" failed, as --error-rate wants it`);
  return body.value.answer(turn);
}

function modelList(models: readonly string[], startedMs: number) {
  const created = Math.floor(startedMs / 1000);
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created, owned_by: 'mock-engine' })) };
}

/** Ollama gives every model a tag, `latest` for want of another. */
function ollamaModel(model: string) {
  const name = model.includes(':') ? model : `${model}:latest`;
  return { name, model: name };
}
