// Which sockets listen on a port, read from the tables of proc(5) as one kind of system or another shows them.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { listeningSockets } from '../../src/runtime/port-handover.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const PORT = 8_080;
const ANY4 = '00000000:1F90';
const ANY6 = '00000000000000000000000000000000:1F90';

function row(address: string, state: string, inode: number): string {
  return `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0\n`;
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proc-net-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(table: 'tcp' | 'tcp6', ...rows: readonly string[]): void {
  writeFileSync(join(folder, table), HEAD + rows.join(''));
}

describe('listeningSockets()', () => {
  it('finds those of both tables that listen on the port, and no others', () => {
    write('tcp', row(ANY4, '0A', 1), row(ANY4, '01', 2), row('00000000:1F91', '0A', 3));
    write('tcp6', row(ANY6, '0A', 4));
    assert.deepEqual(listeningSockets(PORT, folder), [
      { inode: '1', address: ANY4 },
      { inode: '4', address: ANY6 },
    ]);
  });

  it('goes by the one table of a system without IPv6, where a certificate can be renewed too (E11)', () => {
    write('tcp', row(ANY4, '0A', 1));
    assert.deepEqual(listeningSockets(PORT, folder), [{ inode: '1', address: ANY4 }]);
  });

  it('finds none where the system does not tell', () => {
    assert.deepEqual(listeningSockets(PORT, folder), []);
  });

  it('finds a socket of this process', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    assert.equal(listeningSockets(address.port).length, 1);
    await new Promise((resolve) => server.close(resolve));
  });
});
