// The alias file, read again: judged against the models that agents and map have by now.

import { rereadTextFile } from '../config/text-file.ts';
import { currentMap, whyRealModel } from '../http/model-aliases.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { fault, ok } from '../lib/result.ts';
import { parseAliasFile } from '../routing/alias-document.ts';
import type { Reloadable } from './reload.ts';

/** Replaces the table by that of `file`, also one that the admin API put. Nothing to do without a file. */
export function modelAliasReload(file: string | undefined, ports: RouterPorts): readonly Reloadable[] {
  if (file === undefined) return [];
  const reload: Reloadable['reload'] = () => {
    const read = rereadTextFile(file);
    if (!read.ok) return fault([`${file} cannot be read, ${read.fault}`]);
    const parsed = parseAliasFile(read.value.text, (name) => whyRealModel(ports, currentMap(ports), name));
    if (!parsed.ok) return fault(parsed.fault.map((rule) => `${file} ${rule}`));
    ports.aliases.replace(parsed.value);
    return ok({ count: parsed.value.size });
  };
  return [{ name: 'model aliases', reload }];
}
