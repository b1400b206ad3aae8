// Pushes of sibling maps and reads of the map held, for the tests of this room.

import assert from 'node:assert/strict';
import type { TestRouter } from '../support/test-router.ts';

export const PATH = '/admin/sibling-map';

/** Status and body text of a push. */
export async function push(site: TestRouter, body: unknown): Promise<string> {
  const response = await site.admin('POST', PATH, body);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  return `${response.status} ${await response.text()}`;
}

/** The map that the site shows. */
export async function held(site: TestRouter): Promise<string> {
  const response = await site.admin('GET', PATH);
  assert.equal(response.status, 200);
  return response.text();
}
