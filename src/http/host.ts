// Refuses a Host that could make two readers of the URL disagree (R-217, T-38).

const HOST_FORM = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?$/;

/** Whether `Host` is one `host[:port]`: a name, an IPv4 or a bracketed IPv6 address, port at most 65535. */
export function hasValidHost(request: Request): boolean {
  const match = HOST_FORM.exec(request.headers.get('host') ?? authorityOf(request.url));
  return match !== null && Number(match[1] ?? 0) <= 65_535;
}

/** HTTP/2 has no Host header, and its authority shows in the URL; a URL that is not absolute has none. */
function authorityOf(url: string): string {
  return /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
}
