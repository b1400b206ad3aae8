// Preload for Node: names below `localhost` are this machine, as Bun and browsers resolve them by themselves.

import dns from 'node:dns';

const lookup = dns.lookup;

dns.lookup = (host, options, callback) => {
  const isLocal = host.endsWith('.localhost');
  return lookup(isLocal ? '127.0.0.1' : host, options, callback);
};
