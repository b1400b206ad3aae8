// Everything that tests and the demo talk to is on this machine, where a proxy of the user's environment would not find it.
// Bun reads these variables at each request, and asks a proxy even for loopback addresses.

import process from 'node:process';

process.env['NO_PROXY'] = '*';
process.env['no_proxy'] = '*';
