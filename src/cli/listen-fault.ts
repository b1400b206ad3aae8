// Why an address cannot be had, in the operator's words: the runtimes each have their own.

const STATES: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EACCES', 'permission denied'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
]);

/** One clause for what `Runtime.listen` threw. */
export function listenFault(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const code = 'code' in error ? STATES.get(String(error.code)) : undefined;
  return code ?? error.message;
}
