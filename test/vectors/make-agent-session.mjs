// Makes agent-session.json: node test/vectors/make-agent-session.mjs > test/vectors/agent-session.json
// Written from the description of the hash alone, with node:crypto and none of the router's code.

import { createHash } from 'node:crypto';

const FIVE_AGENTS = ['vllm-10.0.0.5-8000', 'vllm-10.0.0.6-8000', 'sglang-10.0.0.7-30000', 'gpu-paris-1', 'agent-é'];
const THIRTY_AGENTS = Array.from({ length: 30 }, (_, index) => `agent-${index}`);
const SESSIONS = ['conv-1', 'conv-2', 'conv-3', 'a', 'ab', '\u00e9', 'x'.repeat(300)].map((text) => Buffer.from(text));

function lengthPrefixed(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function sha256(prefix, ...parts) {
  return createHash('sha256')
    .update(Buffer.concat([Buffer.from(`hivenet-router/${prefix}/v1\0`), ...parts.map(lengthPrefixed)]))
    .digest();
}

const cases = [FIVE_AGENTS, THIRTY_AGENTS, ['agent-0']].flatMap((agents) =>
  SESSIONS.map((session) => {
    const seed = sha256('agent-session', session);
    const ranked = agents
      .map((agent) => ({ agent, digest: sha256('agent', seed, Buffer.from(agent)) }))
      .toSorted((one, other) => Buffer.compare(other.digest, one.digest));
    return {
      session: session.toString('hex'),
      agents,
      home: ranked[0].agent,
      digest: ranked[0].digest.toString('hex'),
    };
  }),
);

const about = 'Sessions and digests in hex. Made by test/vectors/make-agent-session.mjs';
console.log(JSON.stringify({ about, cases }, null, 2));
