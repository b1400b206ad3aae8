// The access log: one JSON line a request on stdout, written when its last byte has left. Field names are those of
// the audit log, so that one query finds a request in both.

import { formatTimestamp } from '../lib/timestamp.ts';
import { redactTarget, redactText } from './redact.ts';
import type { RequestRecord } from './request-record.ts';

/** The line for one ended request, with a trailing newline. Fields without a value are left out. */
export function formatAccessLine(record: RequestRecord, endedMs: number): string {
  const line = {
    log_type: 'access',
    ts: formatTimestamp(record.arrivedMs),
    request_id: record.requestId,
    client_request_id: record.clientRequestId,
    method: record.method,
    path: redactTarget(record.target),
    status_code: record.status,
    latency_ms: roundMs(endedMs - record.startedMs),
    hold_ms: record.holdMs === undefined ? undefined : roundMs(record.holdMs),
    first_byte_ms: record.firstByteMs === undefined ? undefined : roundMs(record.firstByteMs),
    key_id: record.keyId,
    alias: record.alias,
    model: record.model,
    agent_id: record.agentId,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    stream_incomplete: record.isIncomplete ? true : undefined,
    origin_site: record.originSite,
    redirect_site: record.redirectSite,
    hop: record.hop,
    refusal_reason: record.refusalReason,
    error_code: record.errorCode,
    source_ip: record.sourceIp,
  };
  // A client may put a token where a model name belongs.
  return `${redactText(JSON.stringify(line))}\n`;
}

function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
