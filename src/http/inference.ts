// The five inference routes: one straight line from credentials to an answer. Each value is the proof that the next
// step asks for, and no step answers by itself.

import type { Context, Handler } from 'hono';
import { mayUseModel } from '../auth/authenticate.ts';
import { readCredentials } from '../auth/credentials.ts';
import { lastResortOf } from '../dispatch/last-resort.ts';
import { modelLabel } from '../dispatch/model-label.ts';
import { RouterError } from '../errors.ts';
import { splitTarget } from '../lib/query.ts';
import type { Result } from '../lib/result.ts';
import { decideRoute, type RouteFacts, type StayDecision, stay } from '../routing/decide-route.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import {
  type InferenceRequest,
  type ModelBody,
  readInferenceRequest,
  replaceModel,
} from '../routing/inference-request.ts';
import { sessionOf } from '../routing/session.ts';
import { type Admission, admit } from './admit.ts';
import { type BodyOrder, readBody } from './body.ts';
import { RequestCharge } from './charge.ts';
import { type Admitted, type Arrival, type Entrance, enter, forbidden } from './entrance.ts';
import { currentMap, resolveModel } from './model-aliases.ts';
import type { ReceivedBody } from './received-body.ts';
import { redirectResponse } from './redirect.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';
import { stayHere } from './stay-here.ts';

/** A request ready to be routed: who asks, for which model, with which bytes. */
export interface Asked {
  readonly admitted: Admitted;
  readonly model: string;
  /** As received: what a token is bound to. */
  readonly received: ReceivedBody;
  /** What an engine is sent: what the body says, unless the routed model has another name than the sent one. */
  readonly forwarded: ModelBody;
}

/** The handler of one endpoint. */
export function inferenceRoute(ports: RouterPorts, endpoint: Endpoint): Handler<RouterEnv> {
  return async (c) => {
    const arrival = arrive(ports, endpoint, c);
    const entrance = enter(ports, arrival);
    const order = bodyOrder(ports, c, entrance);
    const received = await readBody(ports.bodies, order);
    const admission = await admit(ports, arrival, entrance, { order, received });
    const wanted = await readWanted(ports, arrival, admission);
    const client = { connection: c.env.connection, gone: c.req.raw.signal };
    const charge = new RequestCharge(ports, arrival, { caller: admission.admitted.caller, model: wanted.model });
    try {
      // Without cross-site redirect as in the Go router: before anyone judges body and model (api.md T3).
      if (ports.redirect === undefined) charge.take();
      const asked = judge(admission, wanted, received);
      arrival.record.model = asked.model;
      const answer = redirectOrStay(ports, arrival, asked);
      if (answer instanceof Response) return answer;
      const charged = { ...asked, charge: charge.take() };
      const decideAgain = () => redirectOrStay(ports, { ...arrival, map: currentMap(ports) }, asked);
      const giveBack = () => charge.giveBack();
      return await stayHere(ports, arrival, charged, { ...client, next: answer, decideAgain, giveBack });
    } catch (error) {
      charge.giveBack();
      throw error;
    }
  };
}

function arrive(ports: RouterPorts, endpoint: Endpoint, c: Context<RouterEnv>): Arrival {
  const { record } = c.env;
  return {
    endpoint,
    headers: c.req.raw.headers,
    credentials: readCredentials(c.req.raw.headers, splitTarget(record.target).query),
    record,
    map: currentMap(ports),
  };
}

/** A token is bound to the hash of its body; without one, the hash is needed only when a redirect leaves (E15). */
function bodyOrder(ports: RouterPorts, c: Context<RouterEnv>, entrance: Entrance): BodyOrder {
  return {
    request: c.req.raw,
    connection: c.env.connection,
    share: c.env.record,
    maxBytes: ports.maxRequestBytes,
    isHashed: entrance.kind === 'token',
  };
}

/** What the body asks for, not yet judged. */
interface Wanted {
  readonly request: Result<InferenceRequest, string>;
  /** The model that it is routed on; empty when the body names none. */
  readonly model: string;
}

/**
 * A token brings its model along, and the engine is sent that one, no alias resolved again (R-130, D-38); a new request
 * names its own, or an alias.
 */
async function readWanted(ports: RouterPorts, arrival: Arrival, { admitted, content }: Admission): Promise<Wanted> {
  const request = await ports.turns.complete(readInferenceRequest(content));
  if (!request.ok) return { request, model: '' };
  const model = admitted.claims?.model ?? resolveModel(ports, arrival, admitted, request.value.model);
  return { request, model };
}

/** Throws 400 for a body that names no model, 403 for a model that the caller may not use. */
function judge({ admitted, content }: Admission, { request, model }: Wanted, received: ReceivedBody): Asked {
  if (!request.ok) throw new RouterError('request_invalid', request.fault);
  if (!mayUseModel(admitted.caller, model)) throw forbidden(model);
  const { model: sent, modelAt } = request.value;
  const body = { body: content, modelAt };
  return { admitted, model, received, forwarded: model === sent ? body : replaceModel(body, model) };
}

/** The redirect, or what to do with a request that stays. Throws when it can be neither redirected nor served. */
function redirectOrStay(ports: RouterPorts, arrival: Arrival, asked: Asked): Response | 'serve' | 'hold' {
  const facts = routeFacts(ports, arrival, asked);
  const staying = stay(facts);
  if (staying.kind !== 'notFound') {
    const { owner } = asked.admitted.caller;
    const isKnown = facts.local !== 'none' || staying.kind === 'hold';
    const model = isKnown ? asked.model : modelLabel(asked.model, ports.agents, ports.policies);
    arrival.record.routing = { region: '', engine: '', model, tenant_id: owner };
  }
  const decision = decideRoute(facts, ports.nowMs());
  if (decision.kind !== 'redirect') return stayOrThrow(decision, arrival, asked, searchedFor(asked));
  const { redirect } = ports;
  const response =
    redirect === undefined ? undefined : redirectResponse(ports, redirect, arrival, { decision, ...asked });
  return response ?? stayOrThrow(staying, arrival, asked, 'here, and key ID or query are too long for a redirect');
}

/** Where an agent was looked for: a request that was redirected twice, or as good as that, goes nowhere else (D-33). */
function searchedFor({ admitted }: Asked): string {
  return admitted.passage.hops === 2
    ? 'here, and this request may not be redirected any further'
    : 'here or at a site within reach';
}

function routeFacts(ports: RouterPorts, arrival: Arrival, asked: Asked): RouteFacts {
  const { endpoint } = arrival;
  return {
    local: ports.agents.presence(asked.model, endpoint.capability),
    hasLastResort: lastResortOf(ports.policies.planFor(asked.model), endpoint) !== undefined,
    model: asked.model,
    kind: endpoint.kind,
    keyId: asked.admitted.caller.keyId,
    session: sessionOf(arrival.headers),
    passage: asked.admitted.passage,
    scope: asked.admitted.scope,
    here: ports.redirect === undefined ? undefined : { siteId: ports.redirect.siteId, map: arrival.map },
    defaultHoldMs: ports.holds.defaultHoldMs,
    maxWaitMs: asked.admitted.maxWaitMs,
  };
}

function stayOrThrow({ kind }: StayDecision, { endpoint }: Arrival, { model }: Asked, searched: string) {
  switch (kind) {
    case 'serve':
    case 'hold':
      return kind;
    case 'noAgents':
      throw new RouterError('no_agents_available', `No agent that serves the model "${model}" is healthy.`);
    case 'notFound':
      throw new RouterError(
        'model_not_found',
        `No agent serves the model "${model}" at ${endpoint.path}, ${searched}.`,
      );
  }
}
