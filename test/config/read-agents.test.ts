import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rereadAgents } from '../../src/config/read-agents.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { assertLines, configOf, errorsOf, type Given, warningsOf } from './reading.ts';

const NAME = '--agents-file (HIVENET_ROUTER_AGENTS_FILE)';

/** A router with this agents file, beside what `more` gives. */
function given(text: string, more: Given = {}): Given {
  const { args = [], files = {} } = more;
  return { args: ['--agents-file', 'agents.yaml', ...args], files: { 'agents.yaml': { text, mode: 0o644 }, ...files } };
}

const agent = (id: string, more = '') => `  - {id: ${id}, engine: vllm, backend_url: 'http://h'${more}}\n`;

describe('readAgents()', () => {
  it('has none without settings', () => {
    assert.deepEqual(configOf({}).agents, { engines: [], file: undefined, fromFile: [] });
  });

  it('reads the file beside --engine, by flag and by variable', () => {
    const text = `agents:\n${agent('a')}${agent('b')}`;
    const { agents } = configOf(given(text, { args: ['--engine', 'vllm=http://e:1'] }));
    assert.deepEqual(
      [agents.engines.length, agents.file, agents.fromFile.map(({ id }) => id)],
      [1, 'agents.yaml', ['a', 'b']],
    );
    assert.ok(Object.isFrozen(agents.fromFile) && Object.isFrozen(agents.fromFile[0]));
    const files = { f: { text, mode: 0o644 } };
    assert.equal(configOf({ env: { HIVENET_ROUTER_AGENTS_FILE: 'f' }, files }).agents.fromFile.length, 2);
  });

  it('reads keys from their files, and warns of one that everybody may read', () => {
    const text = `agents:\n${agent('a', ', api_key_file: /keys/a')}`;
    const withKey = (mode: number) => given(text, { files: { '/keys/a': { text: 'canary\n', mode } } });
    assert.equal(configOf(withKey(0o600)).agents.fromFile[0]?.apiKey, 'canary');
    assert.deepEqual(warningsOf(withKey(0o600)), []);
    assertLines(warningsOf(withKey(0o604)), `${NAME}: everyone on this machine may read the file`);
    assertLines(
      errorsOf(given(text)),
      `${NAME} "agents.yaml": line 2, column 52: agents[0].api_key_file: the file cannot be read, no such file`,
    );
  });

  it('refuses a file that is not there, everything wrong in one, and the ID of an --engine', () => {
    assertLines(errorsOf({ args: ['--agents-file', 'lost'] }), `${NAME} "lost": cannot be read, no such file`);
    assertLines(
      errorsOf(given('agents:\n  - {id: a}\n')),
      `${NAME} "agents.yaml": line 2, column 5: agents[0].engine: is required`,
      `${NAME} "agents.yaml": line 2, column 5: agents[0].backend_url: is required`,
    );
    assertLines(
      errorsOf(given(`agents:\n${agent('vllm-e-1')}`, { args: ['--engine', 'vllm=http://e:1'] })),
      `${NAME} "agents.yaml": agent "vllm-e-1": the ID is that of an --engine`,
    );
  });

  it('bounds the agents of both', () => {
    const text = `agents:\n${Array.from({ length: 1000 }, (_, index) => agent(`a${index}`)).join('')}`;
    assert.deepEqual(errorsOf(given(text)), []);
    assertLines(
      errorsOf(given(text, { args: ['--engine', 'vllm=http://e:1'] })),
      '--engine (HIVENET_ROUTER_ENGINES): more than 1000 agents',
    );
  });

  it('keeps a pinned model from being an alias', () => {
    const more = {
      args: ['--model-aliases-file', 'aliases.yaml'],
      files: { 'aliases.yaml': { text: 'm: x\n', mode: 0o644 } },
    };
    assert.equal(errorsOf(given(`agents:\n${agent('a', ', models: [m]')}`, more)).length, 1);
    assert.deepEqual(errorsOf(given(`agents:\n${agent('a')}`, more)), []);
  });
});

describe('rereadAgents()', () => {
  it('judges the file as at the start', () => {
    const reread = (text: string) =>
      rereadAgents('f', (path) => (path === 'f' ? ok({ text, mode: 0o644 }) : fault('no such file')));
    assert.deepEqual(reread('agents: []'), ok([]));
    const wrong = reread('');
    assertLines(wrong.ok ? [] : wrong.fault, `${NAME} "f": line 1, column 1: document: must be an object`);
  });
});
