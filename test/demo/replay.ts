// One redirect token, used twice: the thief of a URL comes too late.

import { accessLineOf } from '../support/access-log.ts';
import { type Fleet, MODELS } from './fleet.ts';
import { expect } from './journey.ts';

export interface Replay {
  /** Of the request that used the token, and of the one that tried again. */
  readonly servedId: string;
  readonly refusedId: string;
}

/** Catches a Location, uses it once without any key, and once more. */
export async function replayToken({ first, second, keys, ground }: Fleet): Promise<Replay> {
  const messages = [{ role: 'user', content: 'Once, and never again.' }];
  const post = (url: string, headers: Record<string, string>): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: MODELS.chat.id, messages }),
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
      tls: { ca: ground.ca },
    });

  const path = '/v1/chat/completions';
  const redirect = await post(first.url + path, { authorization: `Bearer ${keys[0].secret}` });
  expect(redirect.status === 307, `${first.id} answered ${redirect.status} instead of 307`);
  expect((await redirect.text()).includes('"code":"model_redirected"'), 'the 307 has no code "model_redirected"');
  expect(redirect.headers.get('cache-control') === 'no-store', 'the 307 may be stored');
  const location = redirect.headers.get('location') ?? '';
  expect(location.startsWith(`${second.url}${path}?rt=v2.`), `the Location of the 307 is not at ${second.id}`);

  const served = await post(location, {});
  expect(served.status === 200, `the first use was answered ${served.status}`);
  expect((await served.text()).includes(`engine ${MODELS.chat.engine}, `), 'the first use got another answer');
  const refused = await post(location, {});
  expect(refused.status === 401, `the second use was answered ${refused.status} instead of 401`);
  expect(refused.headers.get('x-should-retry') === 'true', 'the 401 has no x-should-retry: true');

  const servedId = served.headers.get('x-request-id') ?? '';
  expect(servedId === redirect.headers.get('x-request-id'), 'the first use has another request ID than the 307');
  const refusedId = refused.headers.get('x-request-id') ?? '';
  const line = await accessLineOf(second, refusedId);
  expect(line.refusal_reason === 'replay', `${second.id} logged refusal reason ${line.refusal_reason}`);
  return { servedId, refusedId };
}
