import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DIRECTORY_MAX_CHARACTERS } from '../../src/config/load-policies.ts';
import { formatPolicy, POLICY_MAX_BYTES } from '../../src/policy/document.ts';
import { DOCUMENTS_MAX, PolicyStore } from '../../src/policy/store.ts';
import { assertLines, configOf, errorsOf, type Given, warningsOf } from './reading.ts';

const FILE = '--policy-file (HIVENET_ROUTER_POLICY_FILE)';
const DIRECTORY = '--policy-model-dir (HIVENET_ROUTER_POLICY_MODEL_DIR)';
const FILE_ARGS = ['--policy-file', 'policy.yaml'];
const DIRECTORY_ARGS = ['--policy-model-dir', 'dir/'];

/** A policy that is told apart by its one tag. */
const tagged = (tag: string, models?: string) =>
  `${models === undefined ? '' : `models: ${models}\n`}routing_policy: {match: {tags: [${tag}]}}\n`;

function given(args: readonly string[], files: Readonly<Record<string, string>>): Given {
  return {
    args,
    files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, { text, mode: 0o644 }])),
  };
}

/** Of each model the tag that its primary step asks for. */
function tagsOf(settings: Given, ...models: readonly string[]): readonly (string | undefined)[] {
  const store = new PolicyStore(configOf(settings).policies.loaded);
  return models.map((model) => store.planFor(model).steps[0]?.match.tags[0]);
}

describe('readPolicies()', () => {
  it('is the built-in policy without files, and nothing to reload', () => {
    const { paths, loaded } = configOf({}).policies;
    assert.deepEqual(paths, { file: undefined, directory: undefined });
    assert.deepEqual(formatPolicy(loaded.global), { routing_policy: { match: {}, strategy: 'least-loaded' } });
    assert.equal(loaded.documents.size, 0);
  });

  it('names no file whose name looks like what should be in it (R-153)', () => {
    const errors = errorsOf(given(['--policy-file', 'models: [m]'], {}));
    assert.deepEqual(errors, [`${FILE}: cannot be read, no such file`]);
  });

  it('reads the file that the flag or the variable names', () => {
    const files = { 'policy.yaml': tagged('file') };
    assert.deepEqual(tagsOf(given(FILE_ARGS, files), 'm'), ['file']);
    const env = { HIVENET_ROUTER_POLICY_FILE: 'policy.yaml' };
    assert.deepEqual(tagsOf({ ...given([], files), env }, 'm'), ['file']);
  });

  it('reads the policies of a directory, .yaml and .yml, and passes over what is none', () => {
    const settings = given(DIRECTORY_ARGS, {
      'dir/a.yaml': tagged('a', '[m1, m2]'),
      'dir/b.yml': tagged('b', '[m3]'),
      'dir/README.md': '{',
      'dir/.a.yaml.swp': '{',
      'dir/.b.yaml': '{',
      'dir/c.yaml.bak': '{',
    });
    assert.deepEqual(tagsOf(settings, 'm1', 'm2', 'm3', 'm4'), ['a', 'a', 'b', undefined]);
    assert.deepEqual([...configOf(settings).policies.loaded.documents.keys()], ['a', 'b']);
  });

  it('takes _default of the directory for the global policy, with a warning if that beats a file', () => {
    const files = {
      'policy.yaml': tagged('file'),
      'dir/_default.yml': tagged('default', '[m1]'),
      'dir/a.yaml': tagged('a', '[m1]'),
    };
    const both = given([...FILE_ARGS, ...DIRECTORY_ARGS], files);
    assert.deepEqual(tagsOf(both, 'm1', 'm2'), ['a', 'default']);
    assert.deepEqual(warningsOf(both), [`${FILE}: not used, _default in ${DIRECTORY} is the global policy`]);
    assert.deepEqual(warningsOf(given(DIRECTORY_ARGS, files)), []);
    const { 'dir/_default.yml': _, ...without } = files;
    const apart = given([...FILE_ARGS, ...DIRECTORY_ARGS], without);
    assert.deepEqual([tagsOf(apart, 'm1', 'm2'), warningsOf(apart)], [['a', 'file'], []]);
  });

  it('warns of gates whose metrics nobody tells', () => {
    const gate = 'routing_policy: {exclude_if: {gpu_temperature_c: {gt: 80}, srtt: {gt: 1}}}';
    const settings = given([...FILE_ARGS, ...DIRECTORY_ARGS], { 'policy.yaml': gate, 'dir/a.yaml': 'models: [a]' });
    assertLines(warningsOf(settings), 'routing policies: the global policy: exclude_if never excludes by gpu_temp');
  });

  it('refuses to start with every fault of every file, beside those of other settings (E12)', () => {
    const settings = given([...FILE_ARGS, ...DIRECTORY_ARGS, '--shutdown-grace', '1d'], {
      'policy.yaml': 'mode: x\nimages_max: -1\n',
      'dir/a.yaml': tagged('a', '[m]'),
      'dir/b.yaml': 'routing_policy: {}\n',
      'dir/c.yaml': tagged('c', '[m, n]'),
      'dir/c.yml': tagged('c', '[o]'),
      'dir/d\te.yaml': tagged('d', '[p]'),
    });
    assertLines(
      errorsOf(settings),
      `${FILE} "policy.yaml": line 1, column 1: mode "x": must be one of`,
      `${FILE} "policy.yaml": line 2, column 1: images_max -1: must be`,
      `${DIRECTORY} "dir/b.yaml": line 1, column 1: must list in "models" the models that it is for`,
      `${DIRECTORY} "dir/d\\te.yaml": the name of the file must be text of 1 to 256 bytes`,
      `${DIRECTORY} "dir/c.yaml": model "m" is in "dir/a.yaml" too`,
      `${DIRECTORY} "dir/c.yml": has the name of "dir/c.yaml"`,
      '--shutdown-grace',
    );
  });

  it('refuses what cannot be read', () => {
    assertLines(
      errorsOf({ args: ['--policy-file', 'none.yaml', '--policy-model-dir', 'nowhere'] }),
      `${FILE} "none.yaml": cannot be read, no such file`,
      `${DIRECTORY} "nowhere": cannot be read, no such file`,
    );
  });

  it('bounds files and characters of a directory', () => {
    const documents = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`dir/d${index}.yaml`, `models: [m${index}]`]));
    assert.deepEqual(errorsOf(given(DIRECTORY_ARGS, documents(DOCUMENTS_MAX))), []);
    assertLines(
      errorsOf(given(DIRECTORY_ARGS, documents(DOCUMENTS_MAX + 1))),
      `${DIRECTORY} "dir/": more than 1000 policy files`,
    );
    const large = (count: number) =>
      Object.fromEntries(Object.entries(documents(count)).map(([path, text]) => [path, text.padEnd(POLICY_MAX_BYTES)]));
    const most = DIRECTORY_MAX_CHARACTERS / POLICY_MAX_BYTES;
    assert.deepEqual(errorsOf(given(DIRECTORY_ARGS, large(most))), []);
    assertLines(
      errorsOf(given(DIRECTORY_ARGS, { ...large(most), 'dir/e.yaml': 'models: [e]' })),
      `${DIRECTORY} "dir/": more than 4194304 characters in its policy files`,
    );
  });
});
