// Flags as they were typed, before anyone looks at their values: every word of the command line belongs to a flag that
// exists, or is refused. A word that belongs to none is told by its place only, for it may be a secret.

import { parseArgs } from 'node:util';
import { GO_ROUTER_SETTINGS } from './go-router-settings.ts';
import { type NamedSetting, nameOf, quote } from './setting.ts';
import { SETTING_ROWS } from './settings.ts';

interface CommandLine {
  /**
   * Flag with its dashes to the values given, in order. A switch has the value `''`. A flag in `errors` has none, so that
   * nothing weaker takes its place.
   */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** One line for each flag or word that cannot be taken. */
  readonly errors: readonly string[];
}

interface FlagRule extends NamedSetting {
  readonly isSwitch?: true;
  readonly isRepeatable?: true;
  readonly example?: string;
}

interface TypedFlag {
  /** As typed, up to `=`. */
  readonly name: string;
  /** Its place on the command line, from 0. */
  readonly index: number;
  value: string | undefined;
}

const RULES: ReadonlyMap<string, FlagRule> = new Map(
  [...SETTING_ROWS, ...GO_ROUTER_SETTINGS].flatMap((rule) => (rule.flag === undefined ? [] : [[rule.flag, rule]])),
);

/**
 * `args` is what stands behind the command: `--flag value` or `--flag=value`; a value that begins with a dash and is no
 * number needs the second form. Only a repeatable flag may come twice: of two different values nobody could tell which was meant.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { typed, errors } = pairUp(args);
  const flags = new Map<string, string[]>();
  for (const flag of typed) {
    const earlier = flags.get(flag.name);
    const error = findFault(flag, RULES.get(flag.name), earlier !== undefined);
    if (error !== undefined) errors.push(error);
    flags.set(flag.name, [...(earlier ?? []), ...(error === undefined ? [flag.value ?? ''] : [])]);
  }
  return { flags, errors };
}

/** Gives each flag the word behind it. parseArgs is told of no flag, so that it takes no flag for another's value. */
function pairUp(args: readonly string[]): { typed: TypedFlag[]; errors: string[] } {
  const typed: TypedFlag[] = [];
  const errors: string[] = [];
  // Runtimes disagree on how `-http-port` falls into one-letter flags. We have none, so it is made one unknown flag; but
  // `-1` is a number.
  const words = args.map((arg) => arg.replace(/^-(?=\d)/, '').replace(/^-(?=[^-])/, '---'));
  const { tokens } = parseArgs({ args: words, strict: false, allowPositionals: true, tokens: true, options: {} });
  for (const token of tokens) {
    const previous = typed.at(-1);
    if (token.kind === 'option') {
      const [name = ''] = (args[token.index] ?? '').split('=', 1);
      typed.push({ name, index: token.index, value: token.value });
    } else if (token.kind === 'positional') {
      if (previous?.index === token.index - 1 && previous.value === undefined) previous.value = args[token.index];
      else errors.push(`Argument ${token.index + 1}: belongs to no flag, see --help`);
    }
  }
  return { typed, errors };
}

function findFault({ name, value }: TypedFlag, rule: FlagRule | undefined, isRepeated: boolean): string | undefined {
  if (rule === undefined) return `${quote(name)}: unknown flag, see --help`;
  if (rule.isSwitch) return value === undefined ? undefined : `${nameOf(rule)}: takes no value`;
  if (value === undefined)
    return `${nameOf(rule)}: flag without a value, for example ${name} ${rule.example ?? 'VALUE'}`;
  return isRepeated && !rule.isRepeatable ? `${nameOf(rule)}: flag given more than once, keep one of them` : undefined;
}
