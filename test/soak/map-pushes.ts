// Ten maps of 16 MiB in a row: how long the router's event loop stands still, the garbage collector included.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
import { ADMIN_KEY, startRouter } from '../support/router-process.ts';
import { watchStall } from '../support/stall.ts';

const PUSHES = 10;
const STALL_MAX_MS = 50;
const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };

export function mapPushes(): Promise<string> {
  return pushMaps([]);
}

export async function keptMapPushes(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'soak-maps-'));
  try {
    return await pushMaps(['--state-dir', directory]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function pushMaps(more: readonly string[]): Promise<string> {
  const flags = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
  const router = await startRouter([...flags, ...more], { HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}` });
  try {
    const maps = ['a', 'b'].map((tag) => bigMapBytes(1, tag));
    const startedMs = performance.now();
    const pushAll = async () => {
      for (let count = 0; count < PUSHES; count += 1) {
        const body = maps[count % 2] ?? null;
        const answer = await fetch(`${router.url}/admin/sibling-map`, { method: 'POST', headers: HEADERS, body });
        if (answer.status !== 200) throw new Error(`status ${answer.status}: ${await answer.text()}`);
      }
    };
    const { answered, longestMs, longestCpuMs } = await watchStall(router, pushAll());
    const pushMs = (performance.now() - startedMs) / PUSHES;
    const told = `${longestCpuMs.toFixed(0)} ms of work (${longestMs.toFixed(0)} ms by the clock)`;
    if (longestCpuMs > STALL_MAX_MS) throw new Error(`a request waited for ${told}`);
    return `no request waited for more than ${told}, ${answered} were answered; ${pushMs.toFixed(0)} ms a push`;
  } finally {
    await router.kill();
  }
}
