// The table of settings for people: `--help`, and the table in README.md, which a test holds to it.

import { GROUPS, type Setting } from './setting.ts';
import { SETTING_ROWS } from './settings.ts';

const USAGE = `Usage: hivenet-router [serve] [OPTIONS]
       hivenet-router state reset map|keys|all --state-dir DIRECTORY
       hivenet-router mock-engine [OPTIONS]
       hivenet-router bench [OPTIONS]

Commands:
  serve        run the router of a site (the default)
  state        forget a kept sibling map, kept keys or all that is kept
  mock-engine  run an engine that needs no GPU, for tests, demos and sizing
  bench        measure what this machine carries

Options of serve. A flag beats its variable, a variable beats the default.
Durations are Go durations such as 1m30s. Every wrong value is told at start.
`;

const CLOSING = `Information:
  --help       this text
  --version    the version
`;

/** Columns of `--help`. */
const HELP_WIDTH = 80;

/** The text of `--help`, with its last line feed. */
export function formatHelp(): string {
  const groups = GROUPS.map((group) => {
    const rows = SETTING_ROWS.filter((setting) => setting.group === group);
    return `${group}:\n${rows.map(formatOption).join('')}`;
  });
  return [USAGE, ...groups, CLOSING].join('\n');
}

/** A Markdown table of all settings, without a line feed at its end. */
export function formatSettingsTable(): string {
  const rows = SETTING_ROWS.map((setting) => {
    const flag = setting.flag === undefined ? '–' : code(`${setting.flag} ${setting.argument}`);
    const fallback = setting.fallback === undefined ? '–' : code(setting.fallback);
    return `| ${flag} | ${code(setting.variable)} | ${fallback} | ${setting.help} |`;
  });
  return ['| Flag | Variable | Default | Meaning |', '|-|-|-|-|', ...rows].join('\n');
}

function formatOption({ flag, variable, argument, fallback, help }: Setting<unknown>): string {
  const head = flag === undefined ? [`${variable}=${argument}`] : [`${flag} ${argument}`, `    ${variable}`];
  const lines = wrap(`${help.replaceAll('`', '')}${fallback === undefined ? '' : ` (default ${fallback})`}`);
  return [...head, ...lines.map((line) => `    ${line}`)].map((line) => `  ${line}\n`).join('');
}

/** Breaks at blanks, so that lines keep to the width behind their indentation of six. */
function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > HELP_WIDTH - 6) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function code(text: string): string {
  return `\`${text}\``;
}
