import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AGENT_PUSH_MAX_BYTES,
  AGENTS_FILE_MAX_BYTES,
  parseAgentsFile,
  parsePushedAgent,
} from '../../src/agents/agent-document.ts';
import { CAPACITY_MAX, INFO_MAX_BYTES, KEY_MAX, PINNED_MODELS_MAX, TAGS_MAX } from '../../src/agents/agent-fields.ts';
import { formatAgentDocument } from '../../src/agents/format-agent.ts';
import { AGENTS_MAX } from '../../src/agents/registry.ts';
import { NAME_MAX_BYTES } from '../../src/lib/name.ts';
import { fault, ok, type Result } from '../../src/lib/result.ts';

const LEAST = { engine: 'vllm', backend_url: 'http://10.0.0.5:8000' };

const FULL = {
  ...LEAST,
  capability: 'embedding',
  models: ['m', 'n'],
  capacity: 3,
  region: 'eu-west',
  tags: ['blue', 'h100'],
  organization: 'acme',
  machine: 'gpu-7',
  gpu_model: 'H100',
  health_path: '/up?deep=1',
  llm_pretty_name: 'The model',
  llm_info: 'Long context',
  hide_llm: true,
  deployment_id: 'dep-1',
  replica_id: 'rep-1',
};

const encode = (text: string) => new TextEncoder().encode(text);

function push(document: unknown, id = 'a'): ReturnType<typeof parsePushedAgent> {
  return parsePushedAgent(encode(JSON.stringify(document)), id);
}

function faults(read: Result<unknown, readonly string[]>): readonly string[] {
  return read.ok ? [] : read.fault;
}

describe('parsePushedAgent()', () => {
  it('needs an engine and its address, and has a default for the rest', () => {
    const read = push(LEAST);
    assert.ok(read.ok);
    const { id, engine, backendUrl, capability, models, capacity, ...rest } = read.value;
    assert.deepEqual(
      { id, engine, backendUrl, capability, models, capacity },
      { id: 'a', engine: 'vllm', backendUrl: 'http://10.0.0.5:8000', capability: 'llm', models: [], capacity: 10 },
    );
    assert.deepEqual([...new Set(Object.values(rest))], [undefined]);
    assert.deepEqual(faults(push({})), ['engine: is required', 'backend_url: is required']);
  });

  it('reads every field, and what is shown of it can be pushed again, but for the key', () => {
    const read = push({ ...FULL, id: 'a', api_key: 'secret' });
    assert.ok(read.ok);
    assert.equal(read.value.apiKey, 'secret');
    assert.equal(read.value.healthPath, '/up?deep=1');
    const shown = formatAgentDocument(read.value);
    assert.deepEqual(shown, { ...FULL, id: 'a' });
    assert.deepEqual(push(shown), ok({ ...read.value, apiKey: undefined }));
  });

  it('names every broken field with its rule, and never a value', () => {
    const broken = {
      ...LEAST,
      backend_url: 'http://user:canary@h',
      capacity: 0,
      tags: ['x', 'x'],
      api_key: 'canary x',
    };
    assert.deepEqual(faults(push(broken)), [
      'backend_url: URL must hold no user name or password',
      'capacity: must be a whole number from 1 to 100000',
      'tags: must name nothing twice',
      'api_key: must be 1 to 4096 printable ASCII characters without blanks',
    ]);
  });

  it('refuses fields that it does not know, a key file among them, whatever they are called', () => {
    for (const name of ['capicity', 'api_key_file', 'constructor', 'toString']) {
      assert.deepEqual(faults(push({ ...LEAST, [name]: 'x' })), [
        `${name.includes('S') ? '"toString"' : name}: unknown field`,
      ]);
    }
    const proto = encode(`{"engine":"vllm","backend_url":"http://h","__proto__":{"capacity":1}}`);
    assert.deepEqual(faults(parsePushedAgent(proto, 'a')), ['__proto__: unknown field']);
  });

  it('tells every field that it does not know, after what is wrong with the others', () => {
    assert.deepEqual(faults(push({ ...LEAST, capacity: 0, capicity: 1, regoin: 'eu' })), [
      'capacity: must be a whole number from 1 to 100000',
      'capicity: unknown field',
      'regoin: unknown field',
    ]);
  });

  it('refuses the ID of another agent than that of the path', () => {
    assert.deepEqual(faults(push({ ...LEAST, id: 'b' })), ['id: must be the ID of the path, or left out']);
  });

  it('refuses an ID that no agent can have', () => {
    for (const id of ['x'.repeat(128), 'vllm-::1-8000', '0', 'a.b_c']) assert.deepEqual(faults(push(LEAST, id)), []);
    for (const id of ['', 'x'.repeat(129), '-a', 'a/b', 'a b', 'é', 'a\n']) {
      assert.match(faults(push(LEAST, id)).join(), /^id: must be 1 to 128 characters of/, id);
    }
  });

  it('refuses a capability that the engine does not have', () => {
    assert.deepEqual(faults(push({ ...LEAST, engine: 'infinity' })), [
      'capability: of infinity must be one of embedding, reranker, not llm',
    ]);
  });

  const limits: readonly (readonly [field: string, accepted: readonly unknown[], refused: readonly unknown[]])[] = [
    ['engine', ['custom'], ['tgi', 1, null]],
    [
      'backend_url',
      ['https://h/base/', `http://h/${'x'.repeat(2039)}`],
      ['h:1', 'ftp://h', 'http://h?x', 'http://h#m', `http://h/${'x'.repeat(2040)}`, 1],
    ],
    ['capacity', [1, CAPACITY_MAX], [0, CAPACITY_MAX + 1, 1.5, '1', null]],
    [
      'models',
      [[], ['x'.repeat(256)], names(PINNED_MODELS_MAX)],
      [[''], ['x'.repeat(257)], names(PINNED_MODELS_MAX + 1), 'm', ['m', 'm'], ['a\n']],
    ],
    ['tags', [[], names(TAGS_MAX)], [names(TAGS_MAX + 1), [1]]],
    ['region', ['x'.repeat(NAME_MAX_BYTES)], ['', 'x'.repeat(NAME_MAX_BYTES + 1), 'é'.repeat(129), 'a\u0000', 1]],
    ['llm_info', ['x'.repeat(INFO_MAX_BYTES)], ['x'.repeat(INFO_MAX_BYTES + 1)]],
    ['health_path', ['/', `/${'x'.repeat(1023)}`], ['up', '', `/${'x'.repeat(1024)}`, '/a b', '/a#b', '/é']],
    ['hide_llm', [true, false], ['true', 1]],
    ['api_key', ['x'.repeat(KEY_MAX)], ['', 'x'.repeat(KEY_MAX + 1), 'a b', 'é', 'a\r\nb: c']],
  ];
  for (const [field, accepted, refused] of limits) {
    it(`bounds ${field}`, () => {
      for (const value of accepted) assert.deepEqual(faults(push({ ...LEAST, [field]: value })), []);
      for (const value of refused) {
        const [rule = '', ...more] = faults(push({ ...LEAST, [field]: value }));
        assert.ok(rule.startsWith(field), `${field} ${JSON.stringify(value)?.slice(0, 40)}: ${rule}`);
        assert.deepEqual(more, []);
      }
    });
  }

  it('bounds the document, and takes JSON that has one reading only', () => {
    const text = JSON.stringify(LEAST);
    assert.ok(parsePushedAgent(encode(text.padEnd(AGENT_PUSH_MAX_BYTES)), 'a').ok);
    assert.match(
      faults(parsePushedAgent(encode(text.padEnd(AGENT_PUSH_MAX_BYTES + 1)), 'a')).join(),
      /^body: larger than/,
    );
    for (const broken of ['', '{', '[]', 'null', '1', `${text}x`, '{"engine":"vllm","engine":"vllm"}']) {
      assert.notDeepEqual(faults(parsePushedAgent(encode(broken), 'a')), [], broken);
    }
  });
});

const noKey = () => fault('no such file');

describe('parseAgentsFile()', () => {
  it('reads a list of agents, with keys from files of their own', () => {
    const text = `
agents:
  - id: chat-1          # comments are welcome
    engine: vllm
    backend_url: http://10.0.0.5:8000
    models: [llama]
    tags: [blue]
    api_key_file: /keys/one
  - {id: embed-1, engine: infinity, capability: embedding, backend_url: 'http://10.0.0.6:7997', capacity: 32}
`;
    const read = parseAgentsFile(text, (path) => ok(`key of ${path}\n`.replaceAll(' ', '-')));
    assert.ok(read.ok, faults(read).join());
    assert.deepEqual(
      read.value.map(({ id, engine, capability, models, capacity, tags, apiKey }) => [
        id,
        engine,
        capability,
        models,
        capacity,
        tags,
        apiKey,
      ]),
      [
        ['chat-1', 'vllm', 'llm', ['llama'], 10, ['blue'], 'key-of-/keys/one'],
        ['embed-1', 'infinity', 'embedding', [], 32, undefined, undefined],
      ],
    );
  });

  it('is no agents for an empty list, and refuses an empty file', () => {
    assert.deepEqual(parseAgentsFile('agents: []', noKey), ok([]));
    for (const text of ['', '{}', 'agents:', 'agents: {}', '- id: a', 'agents: []\nmore: 1']) {
      assert.equal(faults(parseAgentsFile(text, noKey)).length, 1, text);
    }
  });

  it('tells line, column, path and rule of everything that is wrong', () => {
    const text = `agents:
  - id: a
    engine: vllm
    backend_url: http://h
    api_key: canary
    api_kye: canary
  - id: -b
    engine: tgi
    region: 1
`;
    assert.deepEqual(faults(parseAgentsFile(text, noKey)), [
      'line 5, column 5: agents[0].api_key: unknown field',
      'line 6, column 5: agents[0].api_kye: unknown field',
      'line 7, column 5: agents[1].id: must be 1 to 128 characters of A-Z a-z 0-9 . _ : - and begin with a letter or digit',
      'line 8, column 5: agents[1].engine: must be one of vllm, sglang, ollama, llamacpp, infinity, custom',
      'line 7, column 5: agents[1].backend_url: is required',
      'line 9, column 5: agents[1].region: must be text of 1 to 256 bytes without control characters',
    ]);
  });

  it('refuses an ID twice, a key that cannot be had, and one that no header can carry', () => {
    const agent = (id: string, keyFile: string) =>
      `  - {id: ${id}, engine: vllm, backend_url: 'http://h', api_key_file: ${keyFile}}\n`;
    const text = `agents:\n${agent('a', 'good')}${agent('a', 'lost')}${agent('b', 'odd')}`;
    const readKey = (path: string) => (path === 'lost' ? noKey() : ok(path === 'odd' ? 'canary canary' : 'x'));
    assert.deepEqual(
      faults(parseAgentsFile(text, readKey)).map((line) => line.replace(/^.*?: /, '')),
      [
        'agents[1].id: is that of agents[0] already',
        'agents[1].api_key_file: no such file',
        'agents[2].api_key_file: the file’s text must be 1 to 4096 printable ASCII characters without blanks'.replace(
          '’',
          "'",
        ),
      ],
    );
  });

  it('refuses a capability that the engine does not have', () => {
    const text = "agents:\n  - {id: a, engine: ollama, capability: reranker, backend_url: 'http://h'}\n";
    assert.deepEqual(faults(parseAgentsFile(text, noKey)), [
      'line 2, column 29: agents[0].capability: of ollama must be one of llm, embedding, not reranker',
    ]);
  });

  it('bounds the agents, the faults it tells, and the file', () => {
    const agents = (count: number, url: string) =>
      `agents:\n${names(count)
        .map((id) => `- {id: ${id}, engine: vllm, backend_url: "${url}"}\n`)
        .join('')}`;
    assert.equal(faults(parseAgentsFile(agents(AGENTS_MAX, 'http://h'), noKey)).length, 0);
    assert.match(faults(parseAgentsFile(agents(AGENTS_MAX + 1, 'http://h'), noKey)).join(), /at most 1000 agents$/);
    assert.match(faults(parseAgentsFile(agents(30, 'x'), noKey)).at(-1) ?? '', /^and 10 more$/);
    const text = 'agents: []\n#'.padEnd(AGENTS_FILE_MAX_BYTES, '.');
    assert.deepEqual(parseAgentsFile(text, noKey), ok([]));
    assert.deepEqual(faults(parseAgentsFile(`${text}.`, noKey)), [`larger than ${AGENTS_FILE_MAX_BYTES} bytes`]);
  });
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}
