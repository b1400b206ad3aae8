// Resident memory of another process, from where the system tells it.

import { existsSync, readFileSync } from 'node:fs';
import { run } from './child-process.ts';

/** In MB of 1,048,576 bytes. */
export async function memoryMb({ pid }: { readonly pid: number }): Promise<number> {
  const status = `/proc/${pid}/status`;
  if (existsSync(status)) return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
  const { stdout } = await run(['ps', '-o', 'rss=', '-p', String(pid)]);
  return Number(stdout[0]) / 1024;
}
