// How long a router's event loop stands still, seen from outside: by a client that asks for its health again and again.

import { readFileSync } from 'node:fs';

export interface Stall {
  /** Health requests answered meanwhile. */
  readonly answered: number;
  /** Longest wait for one, by the clock. */
  readonly longestMs: number;
  /** The same in time that the router's main thread worked: on a busy machine a wait is mostly one for the CPU. */
  readonly longestCpuMs: number;
}

/** Watches the router until `work` is done. */
export async function watchStall(
  router: { readonly url: string; readonly pid: number },
  work: Promise<unknown>,
): Promise<Stall> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  let stall: Stall = { answered: 0, longestMs: 0, longestCpuMs: 0 };
  while (!isOver) {
    const [startedMs, startedCpuMs] = [performance.now(), mainThreadMs(router.pid)];
    await (await fetch(`${router.url}/health`)).arrayBuffer();
    stall = {
      answered: stall.answered + 1,
      longestMs: Math.max(stall.longestMs, performance.now() - startedMs),
      longestCpuMs: Math.max(stall.longestCpuMs, mainThreadMs(router.pid) - startedCpuMs),
    };
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await done;
  return stall;
}

/** CPU time of a process's first thread so far (Linux). */
function mainThreadMs(pid: number): number {
  return schedulingMs(pid)[0];
}

/** How long it was ready and had no CPU, so far: what a machine to itself would spare it. */
export function starvedMs(pid: number): number {
  return schedulingMs(pid)[1];
}

function schedulingMs(pid: number): [running: number, waiting: number] {
  const [running, waiting] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return [Number(running) / 1e6, Number(waiting) / 1e6];
}
