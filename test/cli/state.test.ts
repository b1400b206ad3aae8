import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runState } from '../../src/cli/state.ts';
import type { State } from '../../src/state/state.ts';
import { agent, documentOf, opened, reopened, replace, told, withDirectory } from '../state/state-fixture.ts';

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const code = runState(args, env, {
    print: (line) => lines.push(`out ${line}`),
    complain: (line) => lines.push(`err ${line}`),
  });
  return { code, lines };
}

function fill(state: State): void {
  replace(state, 'map', documentOf('18446744073709551615', 'm'));
  replace(state, 'keys', documentOf('v1', 'k'));
  state.writeDailyUse([{ budget: 'b', day: 1, tokens: 1 }]);
  state.writeAgents([agent('a')], 1);
}

/** Which of the four things are still there. */
function left(state: State): string {
  const things = {
    map: told(state, 'map') !== undefined,
    keys: told(state, 'keys') !== undefined,
    use: state.readDailyUse(1).length > 0,
    agents: state.readAgents().length > 0,
  };
  return Object.entries(things)
    .filter(([, isThere]) => isThere)
    .map(([name]) => name)
    .join();
}

describe('hivenet-router state reset', () => {
  for (const [what, rest] of [
    ['map', 'keys,use,agents'],
    ['keys', 'map,use,agents'],
    ['all', ''],
  ] as const) {
    // T-29: a map version that no push can follow.
    it(`forgets ${what} and nothing else`, () =>
      withDirectory((directory) => {
        reopened(directory, fill);
        const { code, lines } = run(['reset', what, '--state-dir', directory]);
        assert.deepEqual([code, lines], [0, [`out reset ${what} in ${directory}`]]);
        assert.equal(reopened(directory, left), rest);
      }));
  }

  it('fails where the file could not be opened, and leaves it alone', () =>
    withDirectory((parent) => {
      const directory = parent.padEnd(4_095 - 5, `/${'d'.repeat(200)}`);
      mkdirSync(directory, { recursive: true });
      const { code, lines } = run(['reset', 'all', '--state-dir', directory]);
      assert.equal(code, 1);
      assert.match(lines.join(), /^err Cannot read state file /);
    }));

  it('takes the directory from the environment, and a flag before it', () =>
    withDirectory((directory) => {
      const variable = { HIVENET_ROUTER_STATE_DIR: directory };
      assert.equal(run(['reset', 'map'], variable).code, 0);
      const flag = run(['reset', 'map', `--state-dir=${join(directory, 'no', 'such')}`], variable);
      assert.equal(flag.code, 1);
    }));

  for (const [name, args] of [
    ['nothing', []],
    ['another verb', ['show', 'map']],
    ['nothing to reset', ['reset']],
    ['an unknown thing', ['reset', 'quota']],
    ['two things', ['reset', 'map', 'keys']],
    ['an unknown flag', ['reset', 'map', '--force']],
  ] as const) {
    it(`tells its usage for ${name}`, () => {
      const { code, lines } = run([...args], { HIVENET_ROUTER_STATE_DIR: '/nonexistent' });
      assert.deepEqual([code, lines], [1, ['err Usage: hivenet-router state reset map|keys|all --state-dir DIR']]);
    });
  }

  it('needs a directory', () => {
    for (const args of [
      ['reset', 'map'],
      ['reset', 'map', '--state-dir'],
      ['reset', 'map', '--state-dir='],
    ]) {
      assert.match(run(args).lines.join(), /^err --state-dir \(HIVENET_ROUTER_STATE_DIR\): needed, for example /);
    }
  });

  it('changes nothing while a router runs', () =>
    withDirectory((directory) => {
      const { state } = opened(directory);
      fill(state);
      const { code, lines } = run(['reset', 'all', '--state-dir', directory]);
      assert.equal(code, 1);
      assert.match(lines.join(), /a running router has it$/);
      assert.equal(left(state), 'map,keys,use,agents');
      state.close();
    }));

  it('sets an unreadable file aside, and says so', () =>
    withDirectory((directory) => {
      writeFileSync(join(directory, 'state.sqlite'), 'x'.repeat(9_000));
      const { code, lines } = run(['reset', 'map', '--state-dir', directory]);
      assert.equal(code, 0);
      assert.match(lines.join(' | '), /^out Cannot read state file .* | out reset map in /);
    }));
});
