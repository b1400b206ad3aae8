// One request to each server before any is counted: a server that answers something else is quick at nothing.

import assert from 'node:assert/strict';
import { MODEL } from '../../src/bench/fleet.ts';
import { chatBody, KIB } from '../bodies.ts';

export const PATH = '/v1/chat/completions';
/** What every request of the comparisons asks. */
export const BODY = chatBody(KIB, MODEL);

const LOCATION = /^https:\/\/[^/?]+\/v1\/chat\/completions\?rt=([\w.-]{150,})$/;

async function ask(port: number, apiKey: string, query = '') {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const init: RequestInit = { method: 'POST', headers, body: BODY, redirect: 'manual' };
  const answer = await fetch(`http://127.0.0.1:${port}${PATH}${query}`, init);
  return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() };
}

/** The token of its 307; throws unless there is one. */
export async function assertRedirects(port: number, apiKey: string): Promise<string> {
  const { status, location, text } = await ask(port, apiKey);
  assert.equal(status, 307, text);
  const [, token] = LOCATION.exec(location) ?? [];
  assert.ok(token !== undefined, 'A 307 has no token in its Location');
  return token;
}

/** Throws unless it says what the engine says, with `token` in the request or without. */
export async function assertServes(port: number, apiKey: string, enginePort: number, token?: string): Promise<void> {
  const said = await ask(enginePort, apiKey);
  assert.match(said.text, /"object":"chat\.completion"/);
  assert.deepEqual(await ask(port, apiKey, token === undefined ? '' : `?rt=${token}`), { ...said, status: 200 });
}
