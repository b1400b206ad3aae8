// Reads settings from their sources and gathers what is wrong with them, so that an operator who made three mistakes
// reads of all three. A refused value is reported once and then stands for "left out", so that reading can go on.

import { fault, ok, type Result } from '../lib/result.ts';
import { exampleOf, type NamedSetting, nameOf, type Origin, quote, quotePath, type Setting } from './setting.ts';

/** What a settings file holds, and who may read it. */
export interface SettingsFile {
  readonly text: string;
  /** Permission bits as in `stat`, such as 0o600. */
  readonly mode: number;
}

/** The fault tells the state, `no such file`, and nothing of the contents. */
export type ReadFile = (path: string) => Result<SettingsFile, string>;

/** The names in a directory, sorted; the fault as of {@link ReadFile}. */
export type ListDirectory = (path: string) => Result<readonly string[], string>;

interface Sources {
  /** Flag with its dashes to the values given; none when the flag was typed wrongly, which is reported already. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
}

interface Given {
  readonly origin: Origin;
  readonly texts: readonly string[];
}

const READABLE_BY_OTHERS = 0o004;

export class SettingsReader {
  readonly #sources: Sources;
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  get errors(): readonly string[] {
    return this.#errors;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** What the strongest source says, unread; undefined when the default applies. An empty variable counts as unset. */
  given({ flag, variable }: NamedSetting): Given | undefined {
    const texts = flag === undefined ? undefined : this.#sources.flags.get(flag);
    if (texts !== undefined) return { origin: 'flag', texts };
    const text = this.#sources.env[variable];
    return text === undefined || text === '' ? undefined : { origin: 'variable', texts: [text] };
  }

  /** The value of a setting that has a default. */
  read<Value>(setting: Setting<Value> & { readonly fallback: string }): Value {
    const value = this.readOptional(setting);
    if (value !== undefined) return value;
    const fallback = setting.parse(setting.fallback, 'flag');
    if (!fallback.ok) throw new Error(`Cannot use default "${setting.fallback}" of ${setting.variable}`);
    return fallback.value;
  }

  /** The value, or undefined when it was left out or refused. */
  readOptional<Value>(setting: Setting<Value>): Value | undefined {
    return this.readEach(setting)[0];
  }

  /** Every value of a repeatable setting that is not refused. */
  readEach<Value>(setting: Setting<Value>): readonly Value[] {
    const given = this.given(setting);
    if (given === undefined) return [];
    const { origin, texts } = given;
    const parts = setting.isRepeatable && origin === 'variable' ? texts.flatMap(splitAtBlanks) : texts;
    return parts.flatMap((text) => {
      const parsed = setting.parse(text, origin);
      if (parsed.ok) return [parsed.value];
      this.refuse(setting, parsed.fault, setting.isSecret ? undefined : quote(text));
      return [];
    });
  }

  /** The text of a file that a setting names. `isPrivate`: warn when everyone on the machine may read it (D-53). */
  readFile(setting: Setting<unknown>, path: string, { isPrivate }: { isPrivate: boolean }): string | undefined {
    const file = this.#sources.readFile(path);
    if (!file.ok) {
      this.refuse(setting, `cannot be read, ${file.fault}`, quotePath(path));
      return undefined;
    }
    if (isPrivate) this.#warnIfOpen(nameOf(setting), file.value);
    return file.value.text;
  }

  /**
   * The text of a secret file that another file names. The fault is the state, for whoever knows where the name stands.
   */
  readOther(name: string, path: string): Result<string, string> {
    const file = this.#sources.readFile(path);
    if (!file.ok) return fault(`the file cannot be read, ${file.fault}`);
    this.#warnIfOpen(name, file.value);
    return ok(file.value.text);
  }

  #warnIfOpen(name: string, { mode }: SettingsFile): void {
    const isOpen = (mode & READABLE_BY_OTHERS) !== 0;
    if (isOpen) this.warn(name, 'everyone on this machine may read the file, set its mode to 600');
  }

  /** Reports a value at fault. `shown` is the value, quoted already; undefined where it is a secret, or missing. */
  refuse(setting: Setting<unknown>, rule: string, shown?: string): void {
    const name = shown === undefined ? nameOf(setting) : `${nameOf(setting)} ${shown}`;
    this.report(`${name}: ${rule}, for example ${exampleOf(setting, this.given(setting)?.origin ?? 'flag')}`);
  }

  /** Reports what a file holds: an example of a path would not help. */
  refuseFile(setting: Setting<unknown>, rule: string, path: string): void {
    const shown = quotePath(path);
    this.report(`${nameOf(setting)}${shown === undefined ? '' : ` ${shown}`}: ${rule}`);
  }

  /** Reports an error in words of its own. */
  report(error: string): void {
    this.#errors.push(error);
  }

  /** What the operator should know, though the router starts. */
  warn(name: string, state: string): void {
    this.#warnings.push(`${name}: ${state}`);
  }
}

function splitAtBlanks(text: string): readonly string[] {
  return text.split(/\s+/).filter((part) => part !== '');
}
