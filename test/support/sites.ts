// Sites that redirect to each other: routers over HTTPS on names below one domain, with a throwaway authority, and the
// pushes that an operator's control service would make.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createAuthority, type Identity } from './authority.ts';
import { type EngineProcess, engineFlags, type RouterProcess, startRouter } from './router-process.ts';

/** A private folder with the authority's certificate, and with whatever its sites need as files. */
export interface Ground {
  readonly folder: string;
  /** PEM certificate to trust, and the file it lies in. */
  readonly ca: string;
  readonly caFile: string;
  /** Certificate and key for one host. */
  identity(host: string): Promise<Identity>;
  /** Both as files. */
  issue(host: string): Promise<{ readonly certFile: string; readonly keyFile: string }>;
  /** Writes a file that only this user may read; its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** The folder goes with this process, if `remove` was not called before. */
export async function createGround(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'hivenet-router-'));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  const authority = await createAuthority();
  return {
    folder,
    ca: authority.cert,
    caFile: write('ca.pem', authority.cert),
    identity: (host) => authority.issue(host),
    issue: async (host) => {
      const { cert, key } = await authority.issue(host);
      return { certFile: write(`${host}.crt`, cert), keyFile: write(`${host}.key`, key) };
    },
    write,
    remove,
  };
}

export interface SiteSettings {
  readonly id: string;
  /** Without leading dot; the site's host is `ID.DOMAIN`. */
  readonly domain: string;
  readonly engines: readonly Pick<EngineProcess, 'setting'>[];
  /** `id:secret`, comma-separated. */
  readonly secrets: string;
  readonly adminKey: string;
  /** More flags, such as `--http-port`. */
  readonly args?: readonly string[];
  /** More variables, and the folder to start in. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface SiteProcess extends Omit<RouterProcess, 'url'> {
  readonly id: string;
  /** `https://ID.DOMAIN:PORT`, what clients and the map call it. */
  readonly url: string;
  /** Sends an admin request with the site's admin key. */
  readonly admin: (path: string, body?: object) => Promise<Response>;
}

/** Starts a router with TLS and cross-site redirect, whose callers show pushed keys. It has no map and no keys yet. */
export async function startSite(ground: Ground, settings: SiteSettings): Promise<SiteProcess> {
  const { id, domain, engines, secrets, adminKey, args = [], env = {}, cwd } = settings;
  const host = `${id}.${domain}`;
  const { certFile, keyFile } = await ground.issue(host);
  const flags = ['--site-id', id, '--redirect-allowed-domains', `.${domain}`, '--auth-mode', 'dynamic'];
  const router = await startRouter(
    [...flags, '--tls-cert-file', certFile, '--tls-key-file', keyFile, ...engineFlags(engines), ...args],
    { HIVENET_ROUTER_REDIRECT_SECRETS: secrets, HIVENET_ROUTER_ADMIN_API_KEYS: adminKey, ...env },
    cwd,
  );
  const url = `https://${host}:${new URL(router.url).port}`;
  const admin: SiteProcess['admin'] = (path, body) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${adminKey}` },
      tls: { ca: ground.ca },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  return { ...router, id, url, admin };
}

/** An API key as its client knows it. */
export interface ClientKey {
  readonly id: string;
  readonly secret: string;
}

/** The document of `POST /admin/api-keys/replace`: hashes only. */
export function keyDocument(keys: readonly ClientKey[], version = '1', enabled = true): object {
  const entries = keys.map(({ id, secret }) => ({
    id,
    key_hash: createHash('sha256').update(secret).digest('hex'),
    owner: 'demo',
    name: id,
    enabled,
  }));
  return { version, keys: entries };
}

/** What one site serves, for the map. */
export interface MapEntry {
  readonly site: Pick<SiteProcess, 'id' | 'url'>;
  readonly models: Readonly<Record<string, 'chat' | 'embedding' | 'rerank'>>;
}

/** A map of schema 3 with every site in France, every model warm, and hints that hold for half an hour. */
export function mapDocument(version: number, entries: readonly MapEntry[]): object {
  return {
    schema: 3,
    version,
    region: 'eu',
    generated_at: new Date().toISOString(),
    sites: entries.map(({ site }) => ({ id: site.id, url: site.url, country: 'FR', eu: true })),
    placements: entries.flatMap(({ site, models }) =>
      Object.entries(models).map(([model, kind]) => ({
        model,
        kind,
        site: site.id,
        scale_from_zero: false,
        hint: { warm: true, load: 'ok' },
      })),
    ),
    hints_expire_at: new Date(Date.now() + 1_800_000).toISOString(),
  };
}

/** Throws with the site's own words when it does not take a push. */
export async function push(site: SiteProcess, path: string, document: object): Promise<void> {
  const answer = await site.admin(path, document);
  if (answer.status !== 200)
    throw new Error(`${site.id} refused POST ${path}: ${answer.status} ${await answer.text()}`);
}
