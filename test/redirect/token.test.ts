import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { describe, it, mock } from 'node:test';
import * as fc from 'fast-check';
import { mintToken, openToken } from '../../src/redirect/token.ts';
import { anyClaims, claims, keyring, NOW_MS, okValue, present, SECRET_K1, siteId, token } from './builders.ts';
import { ALL_SECRETS, keyringOf, NEGATIVE, POSITIVE } from './vectors.ts';

const KEYRING = keyring();
const OTHER_SECRET = 'another-secret-of-thirty-two-bytes';

function reasonOf(text: string): string {
  const opened = openToken(text, KEYRING);
  return opened.ok ? 'opened' : opened.fault;
}

describe('mintToken()', () => {
  for (const { name, secretId, claims: written, text } of POSITIVE) {
    it(`writes the text of ${name} (R-083, 4.5)`, () => {
      assert.equal(mintToken(written, keyringOf(secretId)), text);
    });
  }

  it('signs with the first secret (R-086)', () => {
    const signed = token({}, keyring(`k2:${OTHER_SECRET}`, `k1:${SECRET_K1}`));
    assert.match(signed, /^v2\.k2\./);
    assert.equal(signed, token({}, keyring(`k2:${OTHER_SECRET}`)));
  });

  it('stays within 202 and 1,112 URL-safe characters for whatever claims (R-083, R-091)', () =>
    fc.assert(
      fc.property(anyClaims(), fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/), (written, secretId) => {
        const text = present(mintToken(written, keyring(`${secretId}:${SECRET_K1}`)));
        assert.match(text, /^[A-Za-z0-9._-]{202,1112}$/);
      }),
      { numRuns: 200 },
    ));

  it('makes no token for a key ID or a model that is too long (D-45)', () => {
    assert.equal(mintToken(claims({ keyId: 'k'.repeat(256) }), KEYRING), undefined);
    assert.equal(mintToken(claims({ model: 'm'.repeat(257) }), KEYRING), undefined);
  });

  it('covers every claim by the signature (R-084)', () => {
    const changes = [
      { endpoint: '/v1/rerank' as const },
      { hop: 2 as const },
      { scope: { kind: 'all' as const } },
      { issuedMs: NOW_MS + 1 },
      { lifetimeMs: 60_001 },
      { tokenId: 'f'.repeat(32) },
      { bodyHash: 'f'.repeat(64) },
      { requestId: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878b' },
      { clientRequestId: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a' },
      { origin: siteId('site-fr-3') },
      { target: siteId('site-fr-3') },
      { keyId: 'key-abc124' },
      { model: 'llama-3-70c' },
    ];
    const signatures = [{}, ...changes].map((change) => token(change).slice(-43));
    assert.equal(new Set(signatures).size, changes.length + 1);
  });
});

describe('openToken()', () => {
  for (const { name, claims: written, text } of POSITIVE) {
    it(`reads ${name} with every secret at hand (R-155, R-159)`, () => {
      assert.deepEqual(okValue(openToken(text, ALL_SECRETS)), written);
    });
  }

  for (const { name, reason, text } of NEGATIVE) {
    it(`refuses as ${reason}: ${name} (4.6)`, () => {
      const opened = openToken(text, ALL_SECRETS);
      assert.equal(opened.ok ? 'opened' : opened.fault, reason);
    });
  }

  it('takes 152 to 1,100 characters of claims and 1 to 16 of secret ID for a token (R-093)', () => {
    const texts = [
      [`v2.k1.${'A'.repeat(151)}.${'A'.repeat(43)}`, 'malformed'],
      [`v2.k1.${'A'.repeat(152)}.${'A'.repeat(43)}`, 'signature'],
      [`v2.k1.${'A'.repeat(1_100)}.${'A'.repeat(43)}`, 'signature'],
      [`v2.k1.${'A'.repeat(1_101)}.${'A'.repeat(43)}`, 'malformed'],
      [`v2..${'A'.repeat(152)}.${'A'.repeat(43)}`, 'malformed'],
      [`v2.k.${'A'.repeat(152)}.${'A'.repeat(43)}`, 'signature'],
      [`v2.${'k'.repeat(16)}.${'A'.repeat(152)}.${'A'.repeat(43)}`, 'signature'],
      [`v2.${'k'.repeat(17)}.${'A'.repeat(152)}.${'A'.repeat(43)}`, 'malformed'],
      [`v2.k1.${'A'.repeat(152)}.${'A'.repeat(42)}`, 'malformed'],
      [`v2.k1.${'A'.repeat(152)}.${'A'.repeat(44)}`, 'malformed'],
    ] as const;
    for (const [text, reason] of texts) assert.equal(reasonOf(text), reason, text);
  });

  it('refuses by its signature the longest token that is one, with a secret ID that it knows (R-093)', () => {
    const id = 'k'.repeat(16);
    const opened = openToken(`v2.${id}.${'A'.repeat(1_100)}.${'A'.repeat(43)}`, keyring(`${id}:${SECRET_K1}`));
    assert.deepEqual(opened, { ok: false, fault: 'signature' });
  });

  it('knows no secret by the name of an object member (T-13)', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.equal(reasonOf(token().replace('v2.k1.', `v2.${name}.`)), 'signature');
    }
  });

  it('refuses every change of one character, and never later than by the signature (P-02, R-097)', () => {
    const text = token();
    for (let index = 0; index < text.length; index += 1) {
      for (const character of ['A', 'B', '-', '.', '%', '\n']) {
        if (character !== text.charAt(index)) {
          assert.match(reasonOf(text.slice(0, index) + character + text.slice(index + 1)), /^(malformed|signature)$/);
        }
      }
    }
  });

  it('refuses every change of one bit (P-02)', () => {
    const bytes = Buffer.from(token());
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.match(reasonOf(changed.toString('latin1')), /^(malformed|signature)$/);
    }
  });

  it('refuses every prefix, every suffix and every concatenation (P-03)', () => {
    const texts = [token(), token({ keyId: '', model: 'm' })];
    for (const text of texts) {
      for (let cut = 1; cut < text.length; cut += 1) {
        assert.notEqual(reasonOf(text.slice(0, cut)), 'opened');
        assert.notEqual(reasonOf(text.slice(cut)), 'opened');
      }
      for (const other of texts) assert.equal(reasonOf(text + other), 'malformed');
    }
  });

  it('refuses a token under another ID of the very same secret: the ID is signed too (R-084, T-13)', () => {
    const twins = keyring(`k1:${SECRET_K1}`, `k2:${SECRET_K1}`);
    const opened = openToken(token().replace('v2.k1.', 'v2.k2.'), twins);
    assert.equal(opened.ok ? 'opened' : opened.fault, 'signature');
  });

  it('refuses two tokens that swapped their signatures', () => {
    const [one, two] = [token({ tokenId: '0'.repeat(32) }), token({ tokenId: '1'.repeat(32) })];
    assert.equal(reasonOf(one.slice(0, -43) + two.slice(-43)), 'signature');
  });

  it('refuses signed claims whose last character is written in another way (R-095)', () => {
    const [, , written = ''] = token({ keyId: 'key-abc12' }).split('.');
    const bytes = Buffer.from(written, 'base64url');
    const spellings = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
      .map((last) => written.slice(0, -1) + last)
      .filter((text) => Buffer.from(text, 'base64url').equals(bytes));
    const opened = spellings.map((text) => {
      const signed = `v2.k1.${text}`;
      const mac = createHmac('sha256', SECRET_K1).update(`hivenet-router/redirect-token/v2\0${signed}`);
      return reasonOf(`${signed}.${mac.digest('base64url')}`);
    });
    assert.equal(opened.length, 4, 'the claims leave no bits to spare');
    assert.deepEqual(
      opened,
      spellings.map((text) => (text === written ? 'opened' : 'malformed')),
    );
  });

  it('never reads claims whose MAC has not verified, in 10,000 changed tokens (R-096, D-28)', () => {
    const text = token();
    // The reader of claims is the only caller of this method: it stands for the reader.
    const reads = mock.method(Buffer.prototype, 'readUIntBE');
    try {
      assert.equal(reasonOf(text), 'opened');
      assert.equal(reads.mock.callCount(), 1, 'the spy does not see the reader of claims');
      for (let count = 0; count < 10_000; count += 1) {
        const index = 6 + (count % (text.length - 6));
        const character = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop'.charAt(count % 42);
        if (character !== text.charAt(index)) reasonOf(text.slice(0, index) + character + text.slice(index + 1));
      }
      assert.equal(reads.mock.callCount(), 1);
    } finally {
      reads.mock.restore();
    }
  });

  it('refuses a secret that was removed, and the same ID with another secret (R-157, R-158)', () => {
    const text = token();
    for (const entry of [`k2:${SECRET_K1}`, `k1:${OTHER_SECRET}`]) {
      const opened = openToken(text, keyring(entry));
      assert.equal(opened.ok ? 'opened' : opened.fault, 'signature');
    }
  });
});
