import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configOf, errorsOf, type Given } from './reading.ts';

const NAME = '--model-aliases-file (HIVENET_ROUTER_MODEL_ALIASES_FILE)';

const given = (text: string, ...args: readonly string[]): Given => ({
  args: ['--model-aliases-file', 'aliases.yaml', ...args],
  files: { 'aliases.yaml': { text, mode: 0o644 } },
});

describe('readModelAliases()', () => {
  it('is an empty table without a file', () => {
    const { file, table } = configOf({}).modelAliases;
    assert.deepEqual([file, table.size], [undefined, 0]);
  });

  it('reads the file that the flag or the variable names', () => {
    const { files = {} } = given('auto: [a, b]');
    const env = { HIVENET_ROUTER_MODEL_ALIASES_FILE: 'aliases.yaml' };
    for (const settings of [given('auto: [a, b]'), { files, env }]) {
      const { file, table } = configOf(settings).modelAliases;
      assert.deepEqual([file, [...table]], ['aliases.yaml', [['auto', ['a', 'b']]]]);
    }
  });

  it('refuses to start with every fault of the file, beside those of other settings (E12)', () => {
    assert.deepEqual(errorsOf(given('auto: 1\nfast:\n  - x\n  - []\n', '--shutdown-grace', '1d')), [
      `${NAME} "aliases.yaml": line 1, column 1: "auto" 1: a model must be text of 1 to 256 bytes without control characters`,
      `${NAME} "aliases.yaml": line 4, column 5: "fast"[1] […]: a model must be text of 1 to 256 bytes without control characters`,
      '--shutdown-grace (HIVENET_ROUTER_SHUTDOWN_GRACE) "1d": not a duration from 0s to 24h, for example --shutdown-grace 30s',
    ]);
  });

  it('refuses a file that cannot be read', () => {
    assert.deepEqual(errorsOf({ args: ['--model-aliases-file', 'none.yaml'] }), [
      `${NAME} "none.yaml": cannot be read, no such file, for example --model-aliases-file /etc/hivenet-router/model-aliases.yaml`,
    ]);
  });

  it('refuses an alias with the name of a model that an engine is pinned to', () => {
    const engine = ['--engine', 'vllm=http://127.0.0.1:1#m,auto'];
    assert.deepEqual(errorsOf(given('auto: m\nother: m\n', ...engine)), [
      `${NAME} "aliases.yaml": line 1, column 1: "auto": would hide the model of that name: an agent here serves it`,
    ]);
    assert.equal(configOf(given('other: m', ...engine)).modelAliases.table.size, 1);
  });
});
