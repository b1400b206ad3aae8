// What a router with a sibling map never does: connect to a site of the map, or write the map to disk. And one without a
// site ID, which never redirects at all.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BINARY } from '../support/child-process.ts';
import { ADMIN_KEY, type RouterProcess, startRouter } from '../support/router-process.ts';
import { type SilentSibling, startSilentSibling } from '../support/silent-sibling.ts';
import {
  createGround,
  type Ground,
  keyDocument,
  mapDocument,
  push,
  type SiteProcess,
  startSite,
} from '../support/sites.ts';

const CHAT = '/v1/chat/completions';
const DOMAIN = 'traces.localhost';
const KEY = { id: 'key-1', secret: 'sk-without-traces' };
const BEARER = { authorization: `Bearer ${KEY.secret}` };
const BODY = JSON.stringify({ model: 'm', messages: [] });
const PUSHES = 5;
const REDIRECTS = 100;
const hasCounters = existsSync('/proc/self/io');

let ground: Ground;

before(async () => {
  ground = await createGround();
});

after(() => ground.remove());

describe('A router with a sibling map', () => {
  let sibling: SilentSibling;
  let siblingUrl: string;
  let site: SiteProcess;
  /** Where it is started, its home and its folder for temporary files; all of them empty. */
  let folders: readonly string[];
  /** Before the first map: the kernel counts no second write to a page that has not gone to disk yet. */
  let writtenBefore: number;

  before(async () => {
    folders = ['cwd', 'home', 'tmp'].map((name) => join(ground.folder, name));
    for (const folder of folders) mkdirSync(folder);
    const [cwd = '', HOME = '', TMPDIR = ''] = folders;
    sibling = await startSilentSibling();
    siblingUrl = `https://sibling.${DOMAIN}:${sibling.port}`;
    const secrets = 'k1:0123456789abcdef0123456789abcdef';
    const settings = { id: 'site-fr-1', domain: DOMAIN, engines: [], secrets, adminKey: ADMIN_KEY };
    site = await startSite(ground, { ...settings, cwd, env: { HOME, TMPDIR } });
    await push(site, '/admin/api-keys/replace', keyDocument([KEY]));
    writtenBefore = writtenBytes(site.pid);
  });

  after(async () => {
    await site.kill();
    sibling.close();
  });

  /** Pushes a map that places `m` at the sibling, again and again. */
  async function pushMaps(firstVersion: number): Promise<void> {
    const entries = [
      { site, models: {} },
      { site: { id: 'site-fr-2', url: siblingUrl }, models: { m: 'chat' as const } },
    ];
    for (let version = firstVersion; version < firstVersion + PUSHES; version += 1) {
      await push(site, '/admin/sibling-map', mapDocument(version, entries));
    }
  }

  async function assertRedirects(): Promise<void> {
    const answers = await Promise.all(Array.from({ length: REDIRECTS }, ask));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([307]));
  }

  it('opens no connection to a sibling, at a push or at a redirect (R-005, T-31)', async () => {
    await assertReachable(siblingUrl, sibling);
    const before = sibling.connections();
    await pushMaps(1);
    await assertRedirects();
    assert.equal(sibling.connections(), before);
  });

  it('writes nothing to disk, not the map and nothing else (R-173)', { skip: !hasCounters }, async () => {
    await pushMaps(1 + PUSHES);
    await assertRedirects();
    assert.deepEqual(folders.map(filesBelow), [[], [], []]);
    assert.equal(writtenBytes(site.pid), writtenBefore);
    assert.deepEqual(openFiles(site.pid), []);
  });

  function ask(): Promise<Response> {
    const init = { method: 'POST', headers: BEARER, body: BODY, redirect: 'manual' as const, tls: { ca: ground.ca } };
    return fetch(site.url + CHAT, init);
  }
});

/** A name that led nowhere would prove nothing. */
async function assertReachable(url: string, sibling: SilentSibling): Promise<void> {
  const before = sibling.connections();
  await fetch(url).catch(() => undefined);
  assert.ok(sibling.connections() > before, 'the name of the sibling leads nowhere');
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true }).map(String);
}

/** Bytes that a process has caused to be written to any disk; 0 where nobody counts them. */
function writtenBytes(pid: number): number {
  if (!hasCounters) return 0;
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Regular files that a process holds open, but for itself and devices. */
function openFiles(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
    .filter((path) => path.startsWith('/') && !path.startsWith('/dev/') && path !== BINARY);
}

/** A file descriptor may be closed while the list is read. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('A router without a site ID', () => {
  let router: RouterProcess;

  before(async () => {
    router = await startRouter([]);
  });

  after(() => router.kill());

  it('redirects nothing, takes no map, and reads no token, scope or session (R-001, R-002, R-003)', async () => {
    const map = { method: 'POST', headers: { authorization: `Bearer ${ADMIN_KEY}` }, body: '{}' };
    assert.equal((await fetch(`${router.url}/admin/sibling-map`, map)).status, 501);
    const headers = { 'x-hivenet-scope': 'garbage', 'x-session-id': 'x' };
    const plain = await fetch(router.url + CHAT, { method: 'POST', body: BODY, redirect: 'manual' });
    const decorated = await fetch(`${router.url + CHAT}?rt=v2.k1.x.y`, {
      method: 'POST',
      headers,
      body: BODY,
      redirect: 'manual',
    });
    assert.equal(plain.status, 404);
    assert.equal(decorated.status, 404);
    assert.deepEqual([...decorated.headers.keys()], [...plain.headers.keys()]);
    assert.equal(plain.headers.get('location'), null);
    assert.equal(await decorated.text(), await plain.text());
  });

  it('has no metric of the feature, and still redacts (R-204, R-205)', async () => {
    const metrics = await (await fetch(`${router.metricsUrl}/metrics`)).text();
    assert.doesNotMatch(metrics, /hivenet_redirect|hivenet_sibling/);
    await router.line((line) => line.includes('rt=REDACTED'));
    assert.ok(router.stdout.every((line) => !line.includes('v2.k1')));
  });
});
