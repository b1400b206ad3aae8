// Where a request goes: the order of handling, the decision, and what differs between the five paths.

import { type Mutant, mutantsOf } from '../mutant.ts';

const INFERENCE = 'src/http/inference.ts';

const ORDER_TESTS = [
  'test/http/endpoints.test.ts',
  'test/http/loop-guard.test.ts',
  'test/http/order.test.ts',
  'test/http/accepting.test.ts',
  'test/http/model-aliases.test.ts',
  'test/http/home-sites.test.ts',
  'test/http/redirect.test.ts',
  'test/http/refusal.test.ts',
  'test/http/sibling-map.test.ts',
  'test/http/token-use.test.ts',
  'test/http/token-unused.test.ts',
  'test/http/host.test.ts',
];

const HANDLING: readonly Mutant[] = mutantsOf(INFERENCE, ORDER_TESTS, {
  'a second map is taken for the choice': [
    'siteId: ports.redirect.siteId, map: arrival.map',
    'siteId: ports.redirect.siteId, map: ports.redirect.maps.current()',
  ],
  'a forbidden model is redirected': ['  if (!mayUseModel(admitted.caller, model)) throw forbidden(model);\n', ''],
  'the body names the model of an accepted token': ['admitted.claims?.model ?? ', ''],
  'an accepted token does not bring its model past the aliases': [
    'admitted.claims?.model ?? resolveModel(ports, arrival, admitted, request.value.model)',
    'resolveModel(ports, arrival, admitted, admitted.claims?.model ?? request.value.model)',
  ],
  'an engine is sent another model than was routed': ['model === sent ? body : replaceModel(body, model)', 'body'],
  'the body is read before the token is checked': [
    [`    const entrance = enter(ports, arrival);\n`, ''],
    ['bodyOrder(ports, c, entrance)', "bodyOrder(ports, c, { kind: 'token' } as Entrance)"],
    [
      '    const admission = await admit',
      '    const entrance = enter(ports, arrival);\n    const admission = await admit',
    ],
  ],
  'a redirect that cannot be written is an error': [
    'response ?? stayOrThrow(staying,',
    "response ?? stayOrThrow({ kind: 'notFound' },",
  ],
  'a session does not count': ['session: sessionOf(arrival.headers)', 'session: new Uint8Array()'],
  'the choice forgets how the request came': [
    'passage: asked.admitted.passage',
    'passage: { hops: 0, origin: undefined }',
  ],
  'the choice forgets the scope': ['scope: asked.admitted.scope', "scope: { kind: 'all' }"],
  'the choice forgets the key': ['keyId: asked.admitted.caller.keyId', "keyId: ''"],
  'agents of any kind serve': ['presence(asked.model, endpoint.capability)', "presence(asked.model, 'llm')"],
  'placements of any kind redirect': ['kind: endpoint.kind', "kind: 'chat'"],
  'a token in the query is not read': ['splitTarget(record.target).query', "''"],
  'what nobody serves is a 503': [
    "case 'notFound':\n      throw new RouterError(\n        'model_not_found'",
    "case 'notFound':\n      throw new RouterError(\n        'no_agents_available'",
  ],
  'agents that are down are a 404': [
    "RouterError('no_agents_available', `No agent that",
    "RouterError('model_not_found', `No agent that",
  ],
});

const SESSION: readonly Mutant[] = mutantsOf('src/routing/session.ts', ['test/http/home-sites.test.ts'], {
  'X-Session-ID does not count': ["headers.get('x-session-id') ?? ''", "''"],
  'X-Session-ID is hashed as UTF-8': ["?? '', 'latin1')", "?? '')"],
});

const ASKED: readonly Mutant[] = mutantsOf(
  'src/routing/inference-request.ts',
  ['test/routing/inference-request.test.ts', 'test/http/order.test.ts'],
  {
    'a model of 257 bytes is read': ['MODEL_MAX_BYTES = 256', 'MODEL_MAX_BYTES = 257'],
    'a model of 256 bytes is not read': ['MODEL_MAX_BYTES = 256', 'MODEL_MAX_BYTES = 255'],
    'a model may be empty': ["model === ''", 'false'],
    'a model may hold a lone surrogate': ['!model.isWellFormed()', 'false'],
    'the first of two models counts': ['second !== undefined', 'false'],
    'a body may be a list': ['!isObject', 'false'],
    'the routed model is written without quotes': ['JSON.stringify(model)', 'model'],
  },
);

const ROUTE: readonly Mutant[] = mutantsOf('src/routing/decide-route.ts', ['test/routing/decide-route.test.ts'], {
  'a provider takes the place of a sibling': [
    "facts.local === 'healthy' ?",
    "facts.local === 'healthy' || facts.hasLastResort ?",
  ],
  'a provider answers nothing': ["  if (facts.hasLastResort) return { kind: 'serve' };\n", ''],
  'a working local agent does not keep its request': ["facts.local === 'healthy' ? { kind: 'serve' } : ", ''],
  'an agent that is down keeps its request': [
    "facts.local === 'healthy' ? { kind: 'serve' }",
    "facts.local !== 'none' ? { kind: 'serve' }",
  ],
  'a third redirect is decided': [' || passage.hops === 2', ''],
  'a second redirect is not decided': ['passage.hops === 2', 'passage.hops >= 1'],
  'without a scope a request goes everywhere': [
    [' || scope === undefined', ''],
    ['    scope,\n    keyId', "    scope: scope ?? { kind: 'all' },\n    keyId"],
  ],
  'the choice forgets the origin': ['origin: passage.origin', 'origin: undefined'],
  'the choice forgets the key': ['keyId: facts.keyId', "keyId: ''"],
  'the choice forgets the session': ['session: facts.session', 'session: new Uint8Array()'],
  'the choice forgets the kind': ['kind: facts.kind', "kind: 'chat'"],
  'the choice forgets the time': ['    nowMs,\n', '    nowMs: 0,\n'],
  'the choice is made for another site': ['here: here.siteId', "here: '' as SiteId"],
  'the router claims that it can hold': ['canHold: holdBudgetMs(facts) > 0', 'canHold: true'],
  'the router never wakes a model first': ['canHold: holdBudgetMs(facts) > 0', 'canHold: false'],
  'nothing is held': ['  if (holdBudgetMs(facts) > 0)', '  if (false)'],
  'the redirect widens the scope': ['target: choice.site, scope }', "target: choice.site, scope: { kind: 'all' } }"],
  'agents that are down are unknown': ["'unhealthy' ? 'noAgents'", "'unhealthy' ? 'notFound'"],
  'what nobody serves is served': [": 'notFound' }", ": 'serve' }"],
});

const ENDPOINTS: readonly Mutant[] = mutantsOf(
  'src/routing/endpoint.ts',
  ['test/routing/endpoint.test.ts', 'test/http/endpoints.test.ts'],
  {
    'embeddings go by chat placements': ["kind: 'embedding',", "kind: 'chat',"],
    'reranking goes by chat placements': ["kind: 'rerank',", "kind: 'chat',"],
    'messages go by embedding placements': ["'/v1/messages': { kind: 'chat'", "'/v1/messages': { kind: 'embedding'"],
    'counting tokens goes by embedding placements': [
      "count_tokens': { kind: 'chat'",
      "count_tokens': { kind: 'embedding'",
    ],
    'any agent can embed': ["capability: 'embedding'", "capability: 'llm'"],
    'any agent can rerank': ["capability: 'reranker'", "capability: 'llm'"],
  },
);

export const DECISION: readonly Mutant[] = [...HANDLING, ...SESSION, ...ASKED, ...ROUTE, ...ENDPOINTS];
