// `/admin/policy*`: the global policy and the named documents, put as YAML and read back as JSON, in memory until the
// next reload of their files (api.md §17).

import type { Handler } from 'hono';
import type { PolicyTable } from '../../admission/key-check.ts';
import { isName, NAME_RULE } from '../../lib/name.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { decodeUtf8 } from '../../lib/utf8.ts';
import { formatPolicy, POLICY_MAX_BYTES, parsePolicy } from '../../policy/document.ts';
import { tellIdleGates } from '../../policy/idle-gates.ts';
import { BUILT_IN_POLICY, type Policy } from '../../policy/policy.ts';
import type { PolicyKind } from '../../policy/schema.ts';
import { type Claim, DOCUMENTS_MAX, type PolicySet } from '../../policy/store.ts';
import { adminError, jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';
import { TOO_MANY_WRITES } from './api-keys.ts';
import { heldKeys, whyContradictory } from './key-policy-check.ts';

const UPDATED = 'policy updated';

/** `GET /admin/policy`: it can be put again. */
export function readGlobalPolicy({ policies }: RouterPorts): Handler<RouterEnv> {
  return () => jsonResponse(200, formatPolicy(policies.global));
}

/** `PUT /admin/policy`: 200 and it is replaced, or 400 with every broken rule and nothing changes. */
export function replaceGlobalPolicy(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const body = await readAdminBody(ports, c, POLICY_MAX_BYTES);
    if (!body.ok) return body.fault;
    const policy = parseBody(body.value, 'global', ports);
    if (!policy.ok) return refuse(ports, 400, policy.fault);
    return judgedWrite(
      ports,
      () => ({ global: policy.value, documents: ports.policies.documents }),
      () => {
        ports.policies.replaceGlobal(policy.value);
        warnOfIdleGates(ports, { global: policy.value, documents: new Map() });
        accept(ports, 'Replaced global policy', {});
        return jsonResponse(200, { status: UPDATED });
      },
    );
  };
}

/** `GET /admin/policy/models`: every document by its name. */
export function listPolicies({ policies }: RouterPorts): Handler<RouterEnv> {
  return () => {
    const documents = [...policies.documents].map(([name, policy]) => [name, formatPolicy(policy)] as const);
    return jsonResponse(200, Object.fromEntries(documents));
  };
}

/** `GET /admin/policy/models/{name}`, where a name may hold slashes. */
export function readPolicy({ policies }: RouterPorts): Handler<RouterEnv> {
  return (c) => {
    const policy = policies.documents.get(c.req.param('name') ?? '');
    return policy === undefined
      ? adminError(404, 'no policy document of this name')
      : jsonResponse(200, formatPolicy(policy));
  };
}

/** `PUT` of a document: 200, 400 with every broken rule, or 409 when another one has one of its models. */
export function replacePolicy(ports: RouterPorts): Handler<RouterEnv> {
  return async (c) => {
    const name = c.req.param('name') ?? '';
    if (!isName(name)) return refuse(ports, 400, `the name of a policy document ${NAME_RULE}`);
    const body = await readAdminBody(ports, c, POLICY_MAX_BYTES);
    if (!body.ok) return body.fault;
    const policy = parseBody(body.value, 'named', ports);
    if (!policy.ok) return refuse(ports, 400, policy.fault);
    return judgedWrite(
      ports,
      () => withDocument(ports, name, policy.value),
      () => {
        const put = ports.policies.putDocument(name, policy.value);
        if (!put.ok) return refuse(ports, put.fault === 'full' ? 400 : 409, whyNotPut(put.fault));
        const { models } = policy.value;
        warnOfIdleGates(ports, { global: BUILT_IN_POLICY, documents: new Map([[name, policy.value]]) });
        accept(ports, 'Replaced policy document', { name, models: models.length });
        return jsonResponse(200, { status: UPDATED, name, models });
      },
    );
  };
}

/** `DELETE` of a document: its models have the global policy again. 200 also when there was none. */
export function deletePolicy(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => {
    const name = c.req.param('name') ?? '';
    return judgedWrite(
      ports,
      () => withDocument(ports, name, undefined),
      () => {
        ports.policies.deleteDocument(name);
        accept(ports, 'Deleted policy document', { name });
        return jsonResponse(200, { status: 'policy deleted', name });
      },
    );
  };
}

/** Runs `write` when the policies that it leaves contradict no key; otherwise 400, and nothing changes. */
async function judgedWrite(ports: RouterPorts, after: () => PolicyTable, write: () => Response): Promise<Response> {
  const answer = await ports.limitWrites.run(0, async () => {
    const contradiction = await whyContradictory(ports, heldKeys(ports.auth), after());
    if (contradiction !== undefined) return refuse(ports, 400, contradiction);
    const answer = write();
    ports.gates.occupancy.roomMayHaveGrown();
    return answer;
  });
  return answer ?? TOO_MANY_WRITES();
}

/** The policies with another document of this name, or with none. */
function withDocument({ policies: { global, documents } }: RouterPorts, name: string, policy: Policy | undefined) {
  const others = [...documents].filter(([other]) => other !== name);
  return { global, documents: new Map(policy === undefined ? others : [...others, [name, policy] as const]) };
}

function parseBody(bytes: Uint8Array, kind: PolicyKind, { providers }: RouterPorts): Result<Policy, string> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return fault('body: not UTF-8 text');
  const policy = parsePolicy(text, kind, providers);
  return policy.ok ? ok(policy.value) : fault(policy.fault.join('; '));
}

function whyNotPut(why: Claim | 'full'): string {
  if (why === 'full') return `more than ${DOCUMENTS_MAX} policy documents`;
  return `model ${JSON.stringify(why.model)} is in policy document ${JSON.stringify(why.owner)} already`;
}

/** Tells the operator, of policies that are now in force. */
export function warnOfIdleGates({ log }: Pick<RouterPorts, 'log'>, written: PolicySet): void {
  for (const line of tellIdleGates(written)) log.warn('Policy with gates that never act', { policy: line });
}

function accept(
  { metrics, log }: RouterPorts,
  message: string,
  fields: Readonly<Record<string, string | number>>,
): void {
  metrics.policy.reloaded({ trigger: 'api', result: 'success' });
  log.info(message, fields);
}

function refuse({ metrics, log }: RouterPorts, status: 400 | 409, rule: string): Response {
  metrics.policy.reloaded({ trigger: 'api', result: 'error' });
  log.warn('Rejected policy', { rule });
  return adminError(status, rule);
}
