// `make demo KEEP=1`: curl lines for the running sites. Keys lie in files that only this user may read, so that neither
// terminal nor shell history gets to see one.

import { type Fleet, MODELS } from './fleet.ts';
import { print } from './report.ts';

export function printCurlLines(fleet: Fleet): void {
  const { ground, keys, adminKey, first, second } = fleet;
  const clientFile = ground.write('client-header', `Authorization: Bearer ${keys[0].secret}\n`);
  const adminFile = ground.write('admin-header', `Authorization: Bearer ${adminKey}\n`);
  const ends = [first, second].map(({ url }) => `--resolve ${new URL(url).host}:127.0.0.1`);
  const curl = `curl -sS --noproxy '*' --cacert ${ground.caFile} ${ends.join(' ')}`;
  const asClient = `${curl} -H @${clientFile}`;
  const asAdmin = `${curl} -H @${adminFile}`;
  const chat = `-d '${JSON.stringify({ model: MODELS.chat.id, messages: [{ role: 'user', content: 'Hello' }] })}'`;

  printLine('A chat that follows the redirect', `${asClient} -L ${first.url}/v1/chat/completions ${chat}`);
  printLine('The redirect itself', `${asClient} -i ${first.url}/v1/chat/completions ${chat}`);
  printLine(`All models that ${first.id} reaches`, `${asClient} ${first.url}/v1/models`);
  printLine('The sibling map', `${asAdmin} ${first.url}/admin/sibling-map`);
  printLine('The API keys, without hashes', `${asAdmin} ${first.url}/admin/api-keys`);
  for (const site of [first, second]) {
    printLine(`Metrics of ${site.id}`, `curl -sS --noproxy '*' ${site.metricsUrl}/metrics`);
  }
}

function printLine(title: string, command: string): void {
  print(`# ${title}`);
  print(command);
  print();
}
