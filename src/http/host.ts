// Refuses a Host that could make two readers of the URL disagree (R-217, T-38).

const HOST_FORM = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?$/;

/** Whether `Host` is one `host[:port]`: a name, an IPv4 or a bracketed IPv6 address, port at most 65535. */
export function hasValidHost(request: Request): boolean {
  const host = request.headers.get('host') ?? authorityOf(request.url);
  return HOST_FORM.test(host) && portOf(host) <= 65_535;
}

/** The port of a valid host, 0 without one. */
function portOf(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon === -1 || host.endsWith(']') ? 0 : Number(host.slice(colon + 1));
}

/** HTTP/2 has no Host header, and its authority shows in the URL; a URL that is not absolute has none. */
function authorityOf(url: string): string {
  return /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
}
