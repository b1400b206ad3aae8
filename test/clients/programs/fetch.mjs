// `fetch` as it comes with the runtime.

import { markOf, runErrands } from './errands.mjs';

await runErrands(async (errand, { origin, key }) => {
  const answer = await fetch(origin + errand.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...markOf(errand) },
    body: JSON.stringify(errand.body),
  });
  return { status: answer.status, requestId: answer.headers.get('x-request-id'), text: await answer.text() };
});
