// An nginx with one worker, no log and a configuration of its own in a folder that goes with it; and wrk to ask it, since a
// load process in JavaScript would be slower than nginx.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Child, cpuMs } from '../../src/bench/child.ts';
import { MEASURED_CORE, OTHER_CORE, pinned, type Server, type Stage } from './stage.ts';
import { pause } from './streams.ts';

/** Why there is no comparison here; undefined when there can be one. */
export function whyNoNginx(): string | undefined {
  const missing = ['nginx', 'wrk'].filter((name) => spawnSync(name, ['-v']).error !== undefined);
  return missing.length === 0 ? undefined : `no ${missing.join(' and no ')}`;
}

/** What one `server` block does with a request. */
export type NginxRole = { readonly return: string } | { readonly proxyTo: number };

export async function startNginx(stage: Stage, role: NginxRole): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'hivenet-router-nginx-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, role));
  const command = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')];
  const child = new Child(pinned(MEASURED_CORE, command), { PATH: process.env['PATH'] ?? '' });
  stage.join(child);
  await untilListening(port);
  return { child, port };
}

function configuration(folder: string, port: number, role: NginxRole): string {
  const upstream = 'proxyTo' in role ? `upstream engine { server 127.0.0.1:${role.proxyTo}; keepalive 1000; }` : '';
  const action =
    'proxyTo' in role
      ? 'proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;'
      : `return 307 ${role.return};`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off; master_process off; pid ${folder}/pid; error_log stderr emerg;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 100000000; client_body_buffer_size 1m; ${temporary.join(' ')}
  ${upstream}
  server { listen 127.0.0.1:${port}; location / { ${action} } }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 250; tries += 1) {
    const isThere = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await pause(20);
  }
  throw new Error('nginx does not listen');
}

export interface WrkJob {
  readonly server: Server;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly durationS: number;
}

/** Over 64 connections. */
export interface WrkFound {
  readonly perSecond: number;
  /** Processor time of the server, in µs a request. */
  readonly cpuUs: number;
}

export async function runWrk({ server, body, headers, durationS }: WrkJob): Promise<WrkFound> {
  const folder = mkdtempSync(join(tmpdir(), 'hivenet-router-wrk-'));
  try {
    const script = join(folder, 'post.lua');
    const lines = Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`);
    writeFileSync(join(folder, 'body'), body);
    const file = `local f = io.open("${join(folder, 'body')}", "rb")\nwrk.body = f:read("*a")\n`;
    writeFileSync(
      script,
      `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n${lines.join('\n')}\n${file}`,
    );
    const url = `http://127.0.0.1:${server.port}/v1/chat/completions`;
    const [file0 = '', ...args] = pinned(OTHER_CORE, ['wrk', '-t1', '-c64', `-d${durationS}s`, '-s', script, url]);
    const before = cpuMs(server.child.pid) ?? Number.NaN;
    const { stdout } = spawnSync(file0, args, { encoding: 'utf8' });
    const cpu = (cpuMs(server.child.pid) ?? Number.NaN) - before;
    const [, requests = ''] = /(\d+) requests in/.exec(stdout) ?? [];
    const [, perSecond = ''] = /Requests\/sec: *([\d.]+)/.exec(stdout) ?? [];
    const [, bad] = /Non-2xx or 3xx responses: (\d+)/.exec(stdout) ?? [];
    if (requests === '' || bad !== undefined) throw new Error(`wrk: ${stdout}`);
    return { perSecond: Number(perSecond), cpuUs: (cpu * 1_000) / Number(requests) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
