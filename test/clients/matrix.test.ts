// Real clients against sites that redirect: each call of each client in each world ends in an answer or in one clear
// error, after at most two redirects (R-008, R-138, R-214). The sites' own logs are the judge of what happened.

import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { type AccessLine, accessLines } from '../support/access-log.ts';
import { Country } from '../support/country-of-sites.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, type CallName } from './calls.ts';
import { CLIENTS, type Client } from './clients.ts';
import type { Errand, Outcome } from './program.ts';
import { type Ending, endingOf, WORLDS, type World } from './worlds.ts';

/** Longest that a client may take for all its errands. */
const PATIENCE_MS = 60_000;
/** Longest that a line of the access log may come after its answer. */
const LINES_MS = 3000;
/** In one attempt, whatever the maps, secrets and URLs. */
const REDIRECTS_MAX = 2;
const TOKEN = /v2\.[\w-]+\.[\w-]+/;
const SITE_LETTERS = ['A', 'B', 'C', 'S'];

/** One call of one client in one world. */
interface Run {
  readonly client: Client;
  readonly world: World;
  readonly errand: Errand;
  readonly ending: Ending;
}

const RUNS: readonly Run[] = CLIENTS.flatMap((client) =>
  WORLDS.flatMap((world) =>
    world.calls
      .filter(([call]) => client.calls.includes(call))
      .map(([call, model]) => ({ client, world, errand: errandOf(call, model), ending: endingOf(world, client) })),
  ),
);

function errandOf(call: CallName, model: string): Errand {
  const { path, body } = CALLS[call];
  return { id: crypto.randomUUID(), call, path, body: body(model) };
}

/** What a site wrote of a request, in short: which site, which status, e.g. `A307`. */
interface Line extends AccessLine {
  readonly step: string;
}

let country: Country;
/** By the errand's ID. */
const outcomes = new Map<string, Outcome>();
/** Resolve when a client has done its errands. All of them are out at the same time. */
const sentOut = new Map<Client, Promise<void>>();

before(async () => {
  country = await Country.start();
  for (const client of CLIENTS.filter(({ missing }) => missing === undefined)) {
    const sent = sendOut(client);
    sent.catch(() => undefined);
    sentOut.set(client, sent);
  }
});

after(() => country.kill());

async function sendOut(client: Client): Promise<void> {
  const orders = {
    origin: country.first.url,
    key: country.key.secret,
    caFile: country.ground.caFile,
    resolve: country.hosts,
    errands: RUNS.filter((run) => run.client === client).map(({ errand }) => errand),
  };
  for (const outcome of await client.run(orders, country.ground)) outcomes.set(outcome.id, outcome);
}

/** Every line that any site wrote of an errand. */
function linesOf({ id }: Errand): readonly Line[] {
  return country.sites.flatMap((site, index) =>
    accessLines(site, `"client_request_id":"${id}"`).map((line) => ({
      ...line,
      step: `${SITE_LETTERS[index]}${line.status_code}`,
    })),
  );
}

function inOrder(path: readonly string[]): string {
  return path.toSorted().join(' ');
}

async function assertEnded({ client, world, errand, ending }: Run): Promise<void> {
  const outcome = outcomes.get(errand.id);
  assert.ok(outcome, 'no outcome');
  const expected = ending.path.split(' ');
  // A line is written after its answer.
  await eventually('its lines', () => linesOf(errand).length >= expected.length || undefined, LINES_MS).catch(
    () => undefined,
  );
  const lines = linesOf(errand);
  const path = lines.map(({ step }) => step);
  assert.deepEqual(
    { path: inOrder(path), status: outcome.status },
    { path: inOrder(expected), status: ending.status },
    outcome.text.slice(0, 500),
  );
  assert.match(outcome.text, ending.says ?? CALLS[errand.call].answer);
  // What a client says of a failed connection may hold the URL; what a site answered may not.
  if (outcome.status !== undefined) assert.doesNotMatch(outcome.text, TOKEN);
  const reasons = new Set(lines.flatMap(({ refusal_reason }) => refusal_reason ?? []));
  assert.deepEqual([...reasons], client.follows && world.refuses !== undefined ? [world.refuses] : []);
  assertChained(lines, outcome);
  if (ending.status === 200) assertQueryKept(errand, lines);
}

/**
 * One ID and one origin along the redirects of an attempt; a refused token leaves none, and its request has an ID of its
 * own.
 */
function assertChained(lines: readonly Line[], { requestId }: Outcome): void {
  const attempts = lines.filter(({ step }) => step.startsWith('A')).length;
  const redirects = lines.filter(({ status_code }) => status_code === 307).length;
  const refusals = lines.filter(({ refusal_reason }) => refusal_reason !== undefined).length;
  const ids = new Set(lines.map(({ request_id }) => request_id));
  assert.equal(ids.size, attempts + refusals);
  assert.ok(redirects <= REDIRECTS_MAX * attempts, `${redirects} redirects in ${attempts} attempts`);
  const origins = lines.flatMap(({ origin_site }) => origin_site ?? []);
  assert.deepEqual(new Set(origins), new Set([country.first.id]));
  if (typeof requestId === 'string') assert.ok(ids.has(requestId), 'the client was given another ID');
}

function assertQueryKept({ path }: Errand, lines: readonly AccessLine[]): void {
  const [, query] = path.split('?');
  const last = lines.filter(({ status_code }) => status_code === 200);
  assert.deepEqual(
    last.map((line) => line.path),
    [`${path}${query === undefined ? '?' : '&'}rt=REDACTED`],
  );
}

for (const client of CLIENTS) {
  describe(client.name, () => {
    const runs = RUNS.filter((run) => run.client === client);
    if (client.missing !== undefined) {
      // The runner tells skipped tests only by their number.
      process.stderr.write(`Skipped: ${client.name}, ${client.missing}\n`);
      it.skip(`cannot run here: ${client.missing}`, () => undefined);
      return;
    }
    it('does all its errands', { timeout: PATIENCE_MS }, () => sentOut.get(client));
    for (const run of runs) it(`comes out of ${run.world.name}: ${run.errand.call}`, () => assertEnded(run));
    if (client.follows) {
      it(`${client.keepsKey ? 'keeps' : 'drops'} its key when the host changes (R-214)`, () => {
        const ids = new Set(runs.map(({ errand }) => errand.id));
        const requests = country.front.seen.filter(({ headers }) => ids.has(String(headers['x-request-id'])));
        assert.ok(requests.length >= runs.filter(({ world }) => world.name.endsWith(' once')).length);
        for (const { headers } of requests) {
          const shown = [headers.authorization, headers['x-api-key']].some((value) => value !== undefined);
          assert.equal(shown, client.keepsKey);
        }
      });
    }
  });
}

describe('A client that repeats what failed', () => {
  it('comes with a new token each time (R-213)', () => {
    const tokens = country.front.seen.map(({ target }) => country.noteToken(`https://front${target}`));
    assert.ok(tokens.length > 20, String(tokens.length));
    assert.equal(new Set(tokens).size, tokens.length);
  });
});

describe('Everything that the sites printed, measured and forwarded', () => {
  it('holds no token, no key and no secret (R-205, R-206, R-207)', () => country.assertNothingLeaked());
});
