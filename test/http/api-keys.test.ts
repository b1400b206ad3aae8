// The admin API of the key registry (api.md 10.3). What makes an entry valid is tested in test/auth.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import { KEYS } from '../support/test-keys.ts';
import { ADMIN_KEY, bearer, createTestRouter, pauseAtEachStep, type TestRouter } from '../support/test-router.ts';

const REPLACE = '/admin/api-keys/replace';

function entry(id: string, more: object = {}): object {
  return { id, key_hash: hashKey(`sk-${id}`), owner: 'o', name: 'n', enabled: true, ...more };
}

async function replace(site: TestRouter, body: unknown): Promise<string> {
  const response = await site.admin('POST', REPLACE, body);
  return `${response.status} ${await response.text()}`;
}

async function read(site: TestRouter, path: string): Promise<unknown> {
  const response = await site.admin('GET', path);
  assert.equal(response.status, 200);
  return response.json();
}

async function models(site: TestRouter, secret: string): Promise<number> {
  return (await site.send('/v1/models', { headers: { authorization: `Bearer ${secret}` } })).status;
}

describe('POST /admin/api-keys/replace', () => {
  it('puts its keys in place of all held ones (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.equal(await replace(site, { version: '2', keys: [entry('a'), entry('b')] }), '200 {"ok":true,"count":2}');
    assert.equal(await models(site, 'sk-a'), 200);
    assert.equal(await models(site, KEYS['key-1']), 401);
  });

  it('takes unknown fields, and names them in the log, once for all keys', async () => {
    const site = createTestRouter();
    const keys = ['a', 'b'].map((id) => entry(id, { quota: { request_per_minute: 5 } }));
    assert.match(await replace(site, { version: '2', keys }), /^200 /);
    assert.equal(
      (await site.admin('PUT', '/admin/api-keys/c', { version: '3', ...entry('c', { expiry: '' }) })).status,
      200,
    );
    assert.match(await replace(site, { version: '4', keys: [entry('a')] }), /^200 /);
    const told = site.written.filter((line) => line.includes('unknown fields'));
    assert.deepEqual(
      told.map((line) => line.slice(line.indexOf('WARN')).trim()),
      ['quota.request_per_minute', 'expiry'].map((name) => `WARN Ignored unknown fields of API keys fields="${name}"`),
    );
  });

  it('empties the registry when the keys are missing (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.equal(await replace(site, { version: '2' }), '200 {"ok":true,"count":0}');
    assert.equal(await models(site, KEYS['key-1']), 401);
  });

  it('takes an equal or higher version and refuses a lower one with 400, keeping the keys (api.md 10.2)', async () => {
    const site = createTestRouter();
    assert.match(await replace(site, { version: '10', keys: [entry('a')] }), /^200 /);
    assert.match(await replace(site, { version: '10', keys: [entry('b')] }), /^200 /);
    assert.equal(
      await replace(site, { version: '1', keys: [entry('c')] }),
      '400 {"error":"Cannot replace API keys: version \\"1\\" is older than \\"10\\""}',
    );
    assert.equal(await models(site, 'sk-b'), 200);
    assert.equal(await models(site, 'sk-c'), 401);
  });

  const broken: readonly (readonly [string, unknown, RegExp])[] = [
    ['no JSON', '{"version":', /^400 \{"error":"The request body is not valid JSON\."\}$/],
    ['a byte order mark', '\ufeff{"version":"2"}', /^400 \{"error":"The request body is not valid JSON\."\}$/],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), /^400 \{"error":"The request body is not valid JSON\."\}$/],
    ['no object', '[]', /^400 \{"error":"/],
    ['no version', { keys: [] }, /^400 \{"error":"version: /],
    [
      'a bad entry, by its place',
      { version: '2', keys: [entry('a'), entry('b', { key_hash: 'x' })] },
      /^400 \{"error":"keys\[1\]\.key_hash: /,
    ],
    [
      'two of one ID',
      { version: '2', keys: [entry('a'), entry('a', { key_hash: 'a'.repeat(64) })] },
      /^400 \{"error":"keys\[1\]\.id: /,
    ],
    [
      'two of one hash',
      { version: '2', keys: [entry('a'), { ...entry('b'), key_hash: hashKey('sk-a') }] },
      /^400 \{"error":"keys\[1\]\.key_hash: /,
    ],
  ];
  for (const [what, body, answer] of broken) {
    it(`refuses ${what} with 400 and keeps everything (api.md 10.3)`, async () => {
      const site = createTestRouter();
      assert.match(await replace(site, body), answer);
      assert.equal(await models(site, KEYS['key-1']), 200);
      assert.deepEqual(await read(site, '/admin/api-keys/version'), { version: '1', count: 4 });
    });
  }

  it('repeats no hash of a refused document (A2)', async () => {
    const site = createTestRouter();
    const hash = hashKey('sk-canary');
    for (const body of [`{"key_hash":"${hash}`, { version: '2', keys: [entry('a', { key_hash: `${hash}0` })] }]) {
      assert.ok(!(await replace(site, body)).includes(hash));
    }
    assert.ok(!site.written.join('').includes(hash));
  });

  it('tells the log which rule a refused document broke', async () => {
    const site = createTestRouter();
    await replace(site, { version: '2', keys: [entry('a', { key_hash: 'x' })] });
    await replace(site, { version: '0' });
    const told = site.written.filter((line) => line.includes('WARN Rejected API keys rule='));
    assert.equal(told.length, 2);
    assert.match(told.join(''), /keys\[0\]\.key_hash: must be.*version \\"0\\" is older/s);
  });

  it('decides pushes in the order in which they came, also when a later one is read faster (api.md 10.2)', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const many = Array.from({ length: 50 }, (_, index) => entry(`many-${index}`));
    const answers = await Promise.all([
      replace(site, { version: '2', keys: many }),
      replace(site, { version: '2', keys: [entry('last')] }),
    ]);
    assert.deepEqual(answers, ['200 {"ok":true,"count":50}', '200 {"ok":true,"count":1}']);
    assert.equal(await models(site, 'sk-last'), 200);
  });

  it('lets requests in between entries, with the old keys until the last, and then with the new ones (R-163)', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const many = Array.from({ length: 500 }, (_, index) => entry(`many-${index}`));
    let isOver = false;
    const pushing = replace(site, { version: '2', keys: many }).finally(() => {
      isOver = true;
    });
    const seen: string[] = [];
    while (!isOver) {
      seen.push([await models(site, KEYS['key-1']), await models(site, 'sk-many-499')].join());
      await new Promise((resolve) => setTimeout(resolve));
    }
    assert.match(await pushing, /^200 /);
    seen.push([await models(site, KEYS['key-1']), await models(site, 'sk-many-499')].join());
    assert.deepEqual([...new Set(seen)], ['200,401', '401,200']);
    assert.ok(seen.length >= 100, `${seen.length} looks`);
  });

  it('is a 503 when four of the largest are under way, and keeps the keys', async () => {
    const site = createTestRouter();
    pauseAtEachStep(site);
    const nonsense = new Uint8Array(16 * 1024 * 1024).fill(0x78);
    const answers = await Promise.all(Array.from({ length: 5 }, () => site.admin('POST', REPLACE, nonsense)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [400, 400, 400, 400, 503]);
    assert.equal(answers.find(({ status }) => status === 503)?.headers.get('retry-after'), '1');
    assert.equal(await models(site, KEYS['key-1']), 200);
  });

  it('takes 16 MiB and refuses more with 400 (api.md 2, D-60)', async () => {
    const site = createTestRouter({ maxRequestBytes: 10 });
    const document = JSON.stringify({ version: '2', keys: [entry('a')] });
    const padded = (size: number) => document + ' '.repeat(size - document.length);
    assert.match(await replace(site, padded(16 * 1024 * 1024)), /^200 /);
    assert.match(await replace(site, padded(16 * 1024 * 1024 + 1)), /^400 \{"error":"/);
  });
});

describe('GET /admin/api-keys', () => {
  it('shows every key in snake_case, enabled or not, with an empty hash (A2)', async () => {
    const site = createTestRouter();
    await replace(site, {
      version: '2',
      keys: [
        entry('a', { key_preview: 'sk-…a', expires_at: '2027-01-01T00:00:00Z', allowed_models: ['m'] }),
        entry('b', { enabled: false }),
      ],
    });
    const common = { key_hash: '', owner: 'o', name: 'n' };
    assert.deepEqual(await read(site, '/admin/api-keys'), {
      keys: [
        {
          ...common,
          id: 'a',
          key_preview: 'sk-…a',
          enabled: true,
          expires_at: '2027-01-01T00:00:00.000Z',
          allowed_models: ['m'],
        },
        { ...common, id: 'b', key_preview: '', enabled: false },
      ],
      count: 2,
    });
  });

  it('is made piece by piece when it is long (R-163)', async () => {
    const site = createTestRouter();
    const keys = Array.from({ length: 1_000 }, (_, index) => entry(`k-${index}`));
    await replace(site, { version: '2', keys });
    const response = await site.admin('GET', '/admin/api-keys');
    assert.equal(site.ports.active.count, 1, 'its last piece has not been made');
    const listed = (await response.json()) as { keys: { id: string }[]; count: number };
    assert.equal(listed.count, 1_000);
    assert.deepEqual(
      listed.keys.map(({ id }) => id),
      keys.map((_, index) => `k-${index}`),
    );
    assert.equal(site.ports.active.count, 0);
  });

  it('tells the version and the number of keys (api.md 10.3)', async () => {
    const site = createTestRouter();
    assert.deepEqual(await read(site, '/admin/api-keys/version'), { version: '1', count: 4 });
    await replace(site, { version: 'v-é' });
    assert.deepEqual(await read(site, '/admin/api-keys/version'), { version: 'v-é', count: 0 });
  });
});

describe('/admin/api-keys', () => {
  const routes = [
    ['GET', '/admin/api-keys'],
    ['GET', '/admin/api-keys/version'],
    ['POST', REPLACE],
  ] as const;

  it('is 501 in auth mode none, whatever is sent (api.md 10.3)', async () => {
    const site = createTestRouter({ authMode: 'none' });
    for (const [method, path] of routes) {
      const response = await site.admin(method, path, method === 'POST' ? '{' : undefined);
      assert.equal(response.status, 501);
      assert.equal(await response.text(), '{"error":"dynamic key registry not active"}');
    }
  });

  it('is closed to everyone but the admin, in any auth mode (api.md 11)', async () => {
    for (const site of [createTestRouter(), createTestRouter({ authMode: 'none' })]) {
      for (const [method, path] of routes) {
        for (const headers of [{}, bearer('key-1'), { 'x-api-key': ADMIN_KEY }] as Record<string, string>[]) {
          const response = await site.send(path, { method, headers });
          assert.equal(response.status, 401, `${method} ${path}`);
          assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="hivenet-router"');
        }
      }
    }
  });

  it('lets everyone in when the operator said so (D-56)', async () => {
    const site = createTestRouter({ isAdminInsecure: true });
    assert.equal((await site.send('/admin/api-keys')).status, 200);
  });

  it('does not take the admin key for a client key (api.md 11)', async () => {
    assert.equal(await models(createTestRouter(), ADMIN_KEY), 401);
  });

  it('works with the feature on as with it off (R-001)', async () => {
    const site = createTestRouter({ siteId: 'site-fr-1' });
    assert.match(await replace(site, { version: '2', keys: [entry('a')] }), /^200 /);
  });

  it('knows its methods: 405 with Allow, 404 for what is not there (E10)', async () => {
    const site = createTestRouter();
    const wrong = [
      ['POST', '/admin/api-keys', 'GET, HEAD'],
      ['POST', '/admin/api-keys/version', 'GET, HEAD, PUT, DELETE'],
      ['PATCH', '/admin/api-keys/key-1', 'GET, HEAD, PUT, DELETE'],
    ] as const;
    for (const [method, path, allow] of wrong) {
      const response = await site.admin(method, path);
      assert.equal(response.status, 405, path);
      assert.equal(response.headers.get('allow'), allow);
    }
    for (const path of ['/admin', '/admin/', '/admin/nothing', '/admin/api-keys/']) {
      assert.equal((await site.admin('GET', path)).status, 404, path);
      assert.equal((await site.send(path)).status, 401, path);
    }
  });
});
