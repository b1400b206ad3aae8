import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import { anyClaims, claims, keyring, present, SECRET_K1 } from './builders.ts';

const entries = (...ids: readonly string[]) => ids.map((id) => `${id}:${SECRET_K1}`);
const fresh = () => keyring(...entries('k1', 'a-longer-id')).byId;
const someClaims = fc.oneof(
  anyClaims(),
  fc.constant(claims({ keyId: 'k'.repeat(256) })),
  fc.constant(claims({ keyId: 'é'.repeat(127), model: 'M'.repeat(256) })),
);

type Step = readonly [id: 'k1' | 'a-longer-id', written: RedirectClaims, isForged: boolean];

/** What one secret of `secrets` makes of the claims, and says of the token. */
function take([id, written, isForged]: Step, secrets: ReturnType<typeof fresh>) {
  const secret = present(secrets.get(id));
  const text = secret.mint(written);
  if (text === undefined) return [text];
  const shown = isForged ? text.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) : text;
  return [text, secret.verifies(shown)];
}

describe('TokenSecret', () => {
  it('says the same whatever it made and checked before: nothing of it stays in its memory', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('k1', 'a-longer-id'), someClaims, fc.boolean())), (steps) => {
        const used = fresh();
        for (const step of steps) assert.deepEqual(take(step, used), take(step, fresh()));
      }),
      { numRuns: 100 },
    ));

  it('makes the same token before and after it checked a longer one, a shorter one and a forged one', () => {
    const secret = present(fresh().get('k1'));
    const text = present(secret.mint(claims()));
    const others = [claims({ model: 'M'.repeat(256) }), claims({ model: 'm', keyId: '' })];
    for (const other of others.map((written) => present(secret.mint(written)))) {
      assert.equal(secret.verifies(other), true);
      assert.equal(secret.verifies(`${other.slice(0, -43)}${'A'.repeat(43)}`), false);
      assert.equal(secret.verifies(text), true);
      assert.equal(secret.mint(claims()), text);
    }
  });

  it('compares MACs in constant time (T-12)', () => {
    // No result tells; so the source has to: the one comparison is of Node's making.
    const source = readFileSync(new URL('../../src/redirect/token-secret.ts', import.meta.url), 'utf8');
    const body = /\n {2}verifies\(token: string\): boolean \{\n([\s\S]*?)\n {2}\}\n/.exec(source)?.[1] ?? '';
    assert.match(body, /\n *return timingSafeEqual\(signature, this\.#expected\);$/);
    assert.equal(body.match(/\breturn\b/g)?.length, 1);
    assert.doesNotMatch(
      source,
      /\b(signature|expected)\)? *[!=]==?|[!=]==? *(this\.#)?(signature|expected)\b|\.(equals|compare)\(/,
    );
  });
});
