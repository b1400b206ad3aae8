// Reads policy files, at start and at every SIGHUP alike: what is wrong with one of them is wrong with all, so that the
// router never routes by half of what its operator wrote.

import { isName, NAME_RULE } from '../lib/name.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { Steps } from '../lib/steps.ts';
import { parsePolicy } from '../policy/document.ts';
import { BUILT_IN_POLICY, type Policy, type Provider } from '../policy/policy.ts';
import type { PolicyKind } from '../policy/schema.ts';
import { DOCUMENTS_MAX, type PolicySet } from '../policy/store.ts';
import { quote } from './setting.ts';
import type { ListDirectory, ReadFile } from './settings-reader.ts';

/** Of all files in the directory. */
export const DIRECTORY_MAX_CHARACTERS = 4_194_304;

/** The file in the directory that has the global policy. */
const DEFAULT_NAME = '_default';

/** Where the operator's policies are; undefined is what was not set. */
export interface PolicyPaths {
  readonly file: string | undefined;
  readonly directory: string | undefined;
}

export interface PolicyFiles {
  readonly readFile: ReadFile;
  readonly listDirectory: ListDirectory;
}

/** What policies are read with. */
export interface PolicySources extends PolicyFiles {
  /** Providers that they may name. */
  readonly keyed: ReadonlySet<Provider>;
}

export interface PolicyFault {
  readonly source: keyof PolicyPaths;
  readonly path: string;
  readonly rule: string;
}

export interface LoadedPolicies extends PolicySet {
  /** The directory has a global policy too, and its wins. */
  readonly isFileOverruled: boolean;
}

/** All policies, or everything that is wrong with them, at least one fault. It can pause after each file. */
export function* loadPolicies(
  paths: PolicyPaths,
  sources: PolicySources,
): Steps<Result<LoadedPolicies, readonly PolicyFault[]>> {
  const faults: PolicyFault[] = [];
  const refuseFor =
    (source: PolicyFault['source']): Refuse =>
    (path, rule) =>
      void faults.push({ source, path, rule });
  const fileGlobal = paths.file === undefined ? undefined : loadFile(paths.file, sources, refuseFor('file'));
  const named =
    paths.directory === undefined ? [] : yield* loadDirectory(paths.directory, sources, refuseFor('directory'));
  if (faults.length > 0) return fault(faults);
  const directoryGlobal = named.find(({ name }) => name === DEFAULT_NAME)?.policy;
  const documents = named.filter(({ name }) => name !== DEFAULT_NAME);
  return ok({
    global: directoryGlobal ?? fileGlobal ?? BUILT_IN_POLICY,
    documents: new Map(documents.map(({ name, policy }) => [name, policy])),
    isFileOverruled: directoryGlobal !== undefined && fileGlobal !== undefined,
  });
}

type Refuse = (path: string, rule: string) => void;

function loadFile(path: string, sources: PolicySources, refuse: Refuse): Policy | undefined {
  const read = sources.readFile(path);
  if (!read.ok) refuse(path, `cannot be read, ${read.fault}`);
  return read.ok ? parse({ path, text: read.value.text }, 'global', { keyed: sources.keyed, refuse }) : undefined;
}

interface Judging {
  readonly keyed: PolicySources['keyed'];
  readonly refuse: Refuse;
}

function parse({ path, text }: PolicyText, kind: PolicyKind, { keyed, refuse }: Judging): Policy | undefined {
  const policy = parsePolicy(text, kind, keyed);
  if (policy.ok) return policy.value;
  for (const rule of policy.fault) refuse(path, rule);
  return undefined;
}

interface PolicyText {
  readonly path: string;
  readonly text: string;
}

interface NamedPolicy {
  /** The file's, without its extension. */
  readonly name: string;
  readonly path: string;
  readonly policy: Policy;
}

/** Every policy in it, in the order of the files' names. */
function* loadDirectory(directory: string, sources: PolicySources, refuse: Refuse): Steps<readonly NamedPolicy[]> {
  const named: NamedPolicy[] = [];
  for (const file of yield* readTexts(directory, sources, refuse)) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1).replace(EXTENSION, '');
    if (!isName(name)) refuse(file.path, `the name of the file ${NAME_RULE}`);
    const kind = name === DEFAULT_NAME ? 'global' : 'named';
    const policy = parse(file, kind, { keyed: sources.keyed, refuse });
    if (policy !== undefined) named.push({ name, path: file.path, policy });
    yield;
  }
  refuseSecondClaims(named, refuse);
  return named;
}

const EXTENSION = /\.ya?ml$/;

/** The texts of all files with the extension; those with a dot in front are an editor's. */
function* readTexts(directory: string, sources: PolicySources, refuse: Refuse): Steps<readonly PolicyText[]> {
  const listed = sources.listDirectory(directory);
  if (!listed.ok) refuse(directory, `cannot be read, ${listed.fault}`);
  const entries = (listed.ok ? listed.value : []).filter((entry) => EXTENSION.test(entry) && !entry.startsWith('.'));
  if (entries.length > DOCUMENTS_MAX) {
    refuse(directory, `more than ${DOCUMENTS_MAX} policy files`);
    return [];
  }
  const texts: PolicyText[] = [];
  let charactersLeft = DIRECTORY_MAX_CHARACTERS;
  for (const entry of entries) {
    const path = `${directory.replace(/\/+$/, '')}/${entry}`;
    const read = sources.readFile(path);
    if (read.ok) texts.push({ path, text: read.value.text });
    else refuse(path, `cannot be read, ${read.fault}`);
    charactersLeft -= read.ok ? read.value.text.length : 0;
    yield;
    if (charactersLeft >= 0) continue;
    refuse(directory, `more than ${DIRECTORY_MAX_CHARACTERS} characters in its policy files`);
    return [];
  }
  return texts;
}

/** A name and a model each have one policy; which of two files came first is nothing to rely on. */
function refuseSecondClaims(named: readonly NamedPolicy[], refuse: Refuse): void {
  const names = new Map<string, string>();
  const models = new Map<string, string>();
  for (const { name, path, policy } of named) {
    const namesake = names.get(name);
    if (namesake !== undefined) refuse(path, `has the name of ${quote(namesake)}`);
    names.set(name, path);
    for (const model of name === DEFAULT_NAME ? [] : policy.models) {
      const owner = models.get(model);
      if (owner !== undefined) refuse(path, `model ${quote(model)} is in ${quote(owner)} too`);
      models.set(model, path);
    }
  }
}
