// What leaves the router: the 307 with its Location, request IDs, and what no log may hold (R-074 to R-082, R-205, R-217).

import { type Mutant, mutantsOf } from '../mutant.ts';

const REDIRECT_TESTS = [
  'test/http/redirect.test.ts',
  'test/http/location.test.ts',
  'test/http/privacy.test.ts',
  'test/http/metrics.test.ts',
  'test/http/loop-guard.test.ts',
];

const ANSWER: readonly Mutant[] = mutantsOf('src/http/redirect.ts', REDIRECT_TESTS, {
  'the status is 302': ['status: 307', 'status: 302'],
  'the status is 308': ['status: 307', 'status: 308'],
  'a 307 may be stored': ["'cache-control': 'no-store',", ''],
  'a 307 tells its URL on': ["'referrer-policy': 'no-referrer',", ''],
  'Location follows Host': ['`${site.url}${', "`https://${arrival.headers.get('host') ?? site.url.slice(8)}${"],
  'Location follows X-Forwarded-Host': [
    '`${site.url}${',
    "`https://${arrival.headers.get('x-forwarded-host') ?? site.url.slice(8)}${",
  ],
  'Location has the path as it was sent': ['${arrival.endpoint.path}?', "${target.split('?')[0]}?"],
  'Location has no other parameters': ['?${kept}rt=', '?rt='],
  'Location has parameters by their names only': ['({ raw }) => `${raw}&`', '({ name }) => `${name}&`'],
  'Location has the old token too': [".filter(({ name }) => name !== 'rt')", ''],
  'Location has an escaped old token': ["({ name }) => name !== 'rt'", "({ raw }) => !raw.startsWith('rt')"],
  'Location has the token first': ['${kept}rt=${token}', 'rt=${token}&${kept}'],
  'a Location of 4,097 characters is written': ['LOCATION_MAX = 4096', 'LOCATION_MAX = 4097'],
  'a Location of 4,096 characters is not written': ['LOCATION_MAX = 4096', 'LOCATION_MAX = 4095'],
  'a Location may hold any character': [' && QUERY_FORM.test(kept)', ''],
  'a redirect is not counted': ['ports.metrics.redirect?.redirected({ model, site: target, hop });', ''],
  'a redirect is not recorded': ['arrival.record.redirectSite = target;', ''],
  'a redirect is recorded without its hop': ['arrival.record.hop = hop;', ''],
  'a redirect is recorded without its origin': ['arrival.record.originSite = claims.origin;', ''],
  'a second redirect hashes the body anew and wrongly': [
    'admitted.claims?.bodyHash ?? order.received.hash()',
    'order.received.hash().replace(/^./, (digit) => (digit === "0" ? "1" : "0"))',
  ],
  'a token has the time at which the request came': ['nowMs: ports.nowMs()', 'nowMs: record.arrivedMs'],
  'a token has a lifetime of its own': ['redirect.tokenTtlMs', '60_000'],
  'a token forgets the client request ID': ['clientRequestId: record.clientRequestId', 'clientRequestId: undefined'],
  'a token has a request ID that nobody else has': [
    'requestId: record.requestId,\n    clientRequestId',
    "requestId: '00000000-0000-4000-8000-000000000000',\n    clientRequestId",
  ],
  'a token has the key ID of nobody': ['keyId: admitted.caller.keyId', "keyId: ''"],
  'a token names another target': ['target: decision.target.id', 'target: admitted.passage.origin ?? redirect.siteId'],
  'the body shows the token ID': [
    'expires_at: formatTimestamp',
    'token_id: claims.tokenId, expires_at: formatTimestamp',
  ],
  'the body tells another end': ['claims.issuedMs + claims.lifetimeMs', 'claims.issuedMs'],
  'no word when no redirect can be written': ['    warnUnredirectable(ports, arrival, order.admitted.caller);\n', ''],
  'the warning repeats a key ID of any length': ['caller.keyId.slice(0, KEY_ID_SHOWN_MAX)', 'caller.keyId'],
});

const QUERY: readonly Mutant[] = mutantsOf(
  'src/lib/query.ts',
  ['test/lib/query.test.ts', 'test/http/privacy.test.ts', 'test/http/location.test.ts'],
  {
    'escaped names stay escaped': ["if (!name.includes('%') && !name.includes('+')) return name;", 'return name;'],
    'a plus in a name is a plus': [" && !name.includes('+')", ''],
    'a name goes up to the last equals sign': ["raw.indexOf('=')", "raw.lastIndexOf('=')"],
    'a part may lose its first question mark': ['new URLSearchParams(`?${raw}`)', 'new URLSearchParams(raw)'],
    'an empty query has one part': ["text === '' ? [] : ", ''],
  },
);

const REDACTION: readonly Mutant[] = mutantsOf(
  'src/telemetry/redact.ts',
  ['test/telemetry', 'test/http/privacy.test.ts'],
  {
    'tokens are logged': ["name === 'rt' ? 'rt=REDACTED' : redactPart(raw)", 'raw'],
    'a token under an escaped name is logged': ["name === 'rt' ?", "raw.startsWith('rt=') ?"],
    'an escaped token under another name is logged': ['=${redactEscaped(raw.slice', '=${(raw.slice'],
    'an escaped token that is a name is logged': ['return redactEscaped(name) +', 'return name +'],
    'an escaped token in a path is logged': ["path.split('/').map(redactEscaped).join('/')", 'path'],
    'the first token alone is redacted': ['_-]+/g', '_-]+/'],
    'what looks like a token is logged': ["text.includes('v2.') ? text.replace(TOKEN_TEXT, 'REDACTED') : text", 'text'],
    'every parameter is redacted': ["'rt=REDACTED' : redactPart(raw)", "'rt=REDACTED' : 'REDACTED'"],
    'a path is not looked through': ["if (query === '') return redactPath(target)", "if (query === '') return target"],
  },
);

const HOST: readonly Mutant[] = mutantsOf('src/http/host.ts', ['test/http/host.test.ts'], {
  'any Host is taken': ['return HOST_FORM.test(host) && ', 'return '],
  'a Host may have any port': [' && portOf(host) <= 65_535', ''],
  'port 65535 is refused': ['<= 65_535', '< 65_535'],
  'a Host may have a user': ['|[A-Za-z0-9._-]{1,253})', '|[A-Za-z0-9._@-]{1,253})'],
  'a Host may end in anything': ['[0-9]{1,5})?$/', '[0-9]{1,5})?/'],
  'a Host may begin with anything': ['/^(?:\\[', '/(?:\\['],
  'an IPv6 address is refused': ['\\[[0-9A-Fa-f:.]{2,45}\\]|', ''],
  'HTTP/2 has no authority': ['?? authorityOf(request.url)', "?? ''"],
});

const APP: readonly Mutant[] = mutantsOf(
  'src/http/app.ts',
  ['test/http/host.test.ts', 'test/http/sibling-map.test.ts', 'test/http/paths.test.ts'],
  {
    'Host is not looked at': ['hasValidHost(request);', 'true;'],
    'the map is open to everyone': ["app.use('/admin/*', adminOnly(ports));", ''],
  },
);

const ERRORS: readonly Mutant[] = mutantsOf(
  'src/http/respond.ts',
  ['test/http/errors.test.ts', 'test/http/refusal.test.ts', 'test/http/order.test.ts', 'test/http/privacy.test.ts'],
  {
    'a refused token is a 403': ['token_refused: { ...UNAUTHORIZED,', 'token_refused: { ...UNAUTHORIZED, status: 403,'],
    'a refused token has a code of its own': [
      'token_refused: { ...UNAUTHORIZED,',
      "token_refused: { ...UNAUTHORIZED, code: 'token_refused',",
    ],
    'a refused token has no challenge': ["headers: { ...CHALLENGE, 'x-should-retry'", "headers: { 'x-should-retry'"],
    'a refused token is no reason to start again': [", 'x-should-retry': 'true'", ''],
    'a forbidden model is a 404': ['model_forbidden: { status: 403', 'model_forbidden: { status: 404'],
    'an unknown model is a 503': ['model_not_found: { status: 404', 'model_not_found: { status: 503'],
    'an error repeats a token': ['message: redactText(message)', 'message'],
    'an error is no JSON': ["'application/json; charset=utf-8'", "'text/plain'"],
  },
);

const IDS: readonly Mutant[] = mutantsOf(
  'src/http/record-request.ts',
  [
    'test/http/request-ids.test.ts',
    'test/http/accepting.test.ts',
    'test/http/location.test.ts',
    'test/http/feature-off.test.ts',
  ],
  {
    'a client chooses the request ID': [
      'return { requestId: uuidV4(ports.random), clientRequestId',
      'return { requestId: sent ?? uuidV4(ports.random), clientRequestId',
    ],
    'X-Request-ID is no client request ID': [' ?? sent };', ' };'],
    'X-Request-ID comes before X-Client-Request-ID': [
      "validUuid(headers.get('x-client-request-id')) ?? sent",
      "sent ?? validUuid(headers.get('x-client-request-id'))",
    ],
    'any text is a client request ID': ['text !== null && isUuid(text)', 'text !== null'],
    'answers have no request ID': ["headers.set('x-request-id', record.requestId);", ''],
    'answers have no client request ID': ["headers.set('x-client-request-id', record.clientRequestId);", ''],
    'a fragment swallows the token': ['end === -1 ? url.length : end', 'url.length'],
  },
);

const SERVED: readonly Mutant[] = mutantsOf(
  'src/http/serve-here.ts',
  ['test/http/accepting.test.ts', 'test/http/feature-off.test.ts'],
  {
    'an answer to a token may be stored': ["answerHeaders.set('cache-control', 'no-store');", ''],
    'no answer at all may be stored': ['asked.admitted.claims !== undefined && ', ''],
    'an engine’s own word on storing is lost': [" && !answerHeaders.has('cache-control')", ''],
  },
);

export const RESPONSE: readonly Mutant[] = [
  ...ANSWER,
  ...QUERY,
  ...REDACTION,
  ...HOST,
  ...APP,
  ...ERRORS,
  ...IDS,
  ...SERVED,
];
