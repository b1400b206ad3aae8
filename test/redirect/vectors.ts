// The token vectors of redirect-requirements 4.5 and 4.6 as this room's types; test/vectors/make-token.mjs makes them.

import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { type Keyring, parseSecretsFile } from '../../src/redirect/keyring.ts';
import vectors from '../vectors/token.json' with { type: 'json' };
import { claims, okValue, present, scope, siteId } from './builders.ts';

/** The secret `id`, as a keyring that signs with it. */
export function keyringOf(id: string): Keyring {
  const entry = vectors.secretsFile.split('\n').find((line) => line.startsWith(`${id}:`));
  return okValue(parseSecretsFile(present(entry)));
}

/** The body that T1 is bound to. */
export const BODY = vectors.body;

/** Every secret of the vectors. */
export const ALL_SECRETS = okValue(parseSecretsFile(vectors.secretsFile));

export const POSITIVE = vectors.positive.map(({ claims: fields, ...vector }) => ({
  ...vector,
  claims: claims({
    ...fields,
    endpoint: present(ENDPOINT_PATHS.find((path) => path === fields.endpoint)),
    hop: fields.hop === 1 ? 1 : 2,
    scope: scope(fields.scope),
    clientRequestId: fields.clientRequestId === '' ? undefined : fields.clientRequestId,
    origin: siteId(fields.origin),
    target: siteId(fields.target),
  }),
}));

export const NEGATIVE = vectors.negative.map(({ name, reason, text, times }) => ({
  name,
  reason,
  text: text.repeat(times),
}));
