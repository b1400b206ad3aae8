// The command line of `mock-engine`: arguments to settings, or to every mistake in them at once.

import { parseArgs } from 'node:util';
import { fault, ok, type Result } from '../lib/result.ts';
import { FLAGS, type Flag, type MockEngineSettings } from './settings.ts';

const TABLE = Object.values(FLAGS);

type SettingsSoFar = { readonly [Name in keyof MockEngineSettings]: MockEngineSettings[Name] | undefined };

/**
 * Reads the arguments after the command's name; of a flag given twice the last one counts. `help` when `--help` is
 * among them. The fault is one line for each mistake, with flag, value, rule and an example that works.
 */
export function readMockEngineSettings(
  args: readonly string[],
): Result<MockEngineSettings | 'help', readonly string[]> {
  const { isHelp, texts, mistakes } = readArguments(args);
  if (isHelp) return ok('help');
  const read = <Value>(flag: Flag<Value>): Value | undefined => {
    const text = texts.has(flag.name) ? texts.get(flag.name) : flag.fallback;
    const value = text === undefined ? undefined : flag.parse(text);
    if (value === undefined) mistakes.push(describe(flag, text));
    return value;
  };
  const settings: SettingsSoFar = {
    address: read(FLAGS.address),
    name: read(FLAGS.name),
    models: read(FLAGS.models),
    capability: read(FLAGS.capability),
    tokensPerSecond: read(FLAGS.tokensPerSecond),
    ttftMs: read(FLAGS.ttftMs),
    startDelayMs: read(FLAGS.startDelayMs),
    errorRate: read(FLAGS.errorRate),
  };
  return mistakes.length === 0 && isComplete(settings) ? ok(settings) : fault(mistakes);
}

/** What `mock-engine --help` prints. */
export function mockEngineHelp(): string {
  const rows = TABLE.map((flag) => [
    `  --${flag.name} ${flag.placeholder}`,
    `      ${flag.meaning} (${flag.fallback === undefined ? 'required' : `default ${flag.fallback}`})`,
  ]);
  return [
    'Usage: hivenet-router mock-engine --models NAME[,NAME…] [flags]',
    '',
    'An OpenAI- and Anthropic-compatible engine without a model: for tests, and to size a machine without a GPU.',
    '',
    ...rows.flat(),
  ].join('\n');
}

interface Arguments {
  readonly isHelp: boolean;
  /** Flag name to its text; undefined for a flag that ends the line without a value. */
  readonly texts: ReadonlyMap<string, string | undefined>;
  readonly mistakes: string[];
}

function readArguments(args: readonly string[]): Arguments {
  const valued = TABLE.map(({ name }) => [name, { type: 'string' as const }] as const);
  const options = { ...Object.fromEntries(valued), help: { type: 'boolean' as const, short: 'h' } };
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const texts = new Map<string, string | undefined>();
  const mistakes: string[] = [];
  let valueOfUnknownAt: number | undefined;
  for (const token of tokens) {
    if (token.kind === 'option' && Object.hasOwn(options, token.name)) texts.set(token.name, token.value);
    else if (token.kind === 'option') {
      mistakes.push(`${token.rawName}: unknown flag, use ${TABLE.map(({ name }) => `--${name}`).join(' ')}`);
      valueOfUnknownAt = token.inlineValue === true ? undefined : token.index + 1;
    } else if (token.kind === 'positional' && token.index !== valueOfUnknownAt) {
      // What follows an unknown flag is most likely its value: one mistake, one line.
      mistakes.push(`"${token.value}": must be a flag, for example --models ${FLAGS.models.example}`);
    }
  }
  return { isHelp: texts.has('help'), texts, mistakes };
}

function describe(flag: Flag<unknown>, text: string | undefined): string {
  const value = text === undefined ? 'has no value' : `"${text}"`;
  return `--${flag.name} ${value}: must be ${flag.rule}, for example --${flag.name} ${flag.example}`;
}

function isComplete(settings: SettingsSoFar): settings is MockEngineSettings {
  return Object.values(settings).every((value) => value !== undefined);
}
