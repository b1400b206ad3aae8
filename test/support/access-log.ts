// The access log of a running router, as a test or the demo reads it.

import type { RunningProcess } from './child-process.ts';

/** One line; see `src/telemetry/access-log.ts`. */
export interface AccessLine {
  readonly request_id: string;
  readonly client_request_id?: string;
  readonly method: string;
  readonly path: string;
  readonly status_code: number;
  readonly latency_ms: number;
  readonly first_byte_ms?: number;
  readonly key_id?: string;
  readonly alias?: string;
  readonly model?: string;
  readonly agent_id?: string;
  readonly origin_site?: string;
  readonly redirect_site?: string;
  readonly hop?: number;
  readonly refusal_reason?: string;
  readonly error_code?: string;
}

/** All lines so far that hold `text`. */
export function accessLines(router: Pick<RunningProcess, 'stdout'>, text = ''): readonly AccessLine[] {
  const lines = router.stdout.filter((line) => isAccessLine(line) && line.includes(text));
  return lines.map((line) => JSON.parse(line) as AccessLine);
}

/** The line of one request, which may still be on its way; rejects when none comes. */
export async function accessLineOf(router: Pick<RunningProcess, 'line'>, requestId: string): Promise<AccessLine> {
  const line = await router.line((text) => isAccessLine(text) && text.includes(`"request_id":"${requestId}"`));
  return JSON.parse(line) as AccessLine;
}

function isAccessLine(line: string): boolean {
  return line.startsWith('{"log_type":"access"');
}
