// Gives a port from one listener of this process to the next without losing a connection (E11). A listener that closes
// resets the connections waiting in its queue, so the kernel is first told to queue new ones at its successor; Bun has
// no call for that, and a renewed certificate needs a new listener. Linux only.

import { dlopen, ptr } from 'bun:ffi';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a listener asks of the system, so that a test decides what it says. */
export interface PortHandover {
  readonly listeningSockets: (port: number) => readonly ListeningSocket[];
  readonly steerToLast: (socket: ListeningSocket) => void;
}

/** A listening socket, as proc(5) shows it. */
export interface ListeningSocket {
  /** Unique among the sockets of this machine. */
  readonly inode: string;
  /** Local address and port in the kernel's hex notation. */
  readonly address: string;
}

/** Where proc(5) shows this network namespace. */
const PROC_NET = '/proc/self/net';
const STATE_LISTEN = '0A';

/**
 * The sockets of any process that listen on the port, in this network namespace. None where the system does not tell: no
 * Linux, or a hardened container. The port can still be served then, but not handed over.
 */
export function listeningSockets(port: number, folder: string = PROC_NET): readonly ListeningSocket[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['tcp', 'tcp6'].flatMap((table) => rowsOf(`${folder}/${table}`)).map(parseRow);
  const listening = rows.filter(({ state, address }) => state === STATE_LISTEN && address.endsWith(suffix));
  return listening.map(({ inode, address }) => ({ inode, address }));
}

/** The rows below the head of a table; none of a table that is not there, as `tcp6` without IPv6. */
function rowsOf(table: string): readonly string[] {
  try {
    return readFileSync(table, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}

function parseRow(row: string): ListeningSocket & { readonly state: string } {
  const [, address = '', , state = '', , , , , , inode = ''] = row.trim().split(/\s+/);
  return { inode, address, state };
}

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** `ret K`: the one instruction of the program, whose result is the position of the socket that takes the connection. */
const BPF_RET_K = 0x06;
const SOCK_FPROG_BYTES = 16;
const SOCK_FILTER_BYTES = 8;

/**
 * Makes the kernel queue every new connection of a port, which two listeners share by SO_REUSEPORT, at the one opened
 * last (socket(7), SO_ATTACH_REUSEPORT_CBPF). Once the other is closed the program points past the end and counts no
 * more. Throws an Error when it cannot be done; nothing has changed then.
 */
function steerToLast(socket: ListeningSocket): void {
  const descriptor = descriptorOf(socket);
  const program = steeringProgram();
  const libc = dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  });
  try {
    const code = libc.symbols.setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, program, SOCK_FPROG_BYTES);
    if (code !== 0) throw new Error('the system refuses to steer connections to a new listener');
  } finally {
    libc.close();
  }
}

/**
 * A struct sock_fprog and, behind it, the struct sock_filter it points to. In one buffer, because the collector does not
 * see the pointer: whoever holds the head holds the instruction too.
 */
function steeringProgram(): Uint8Array {
  const bytes = new Uint8Array(SOCK_FPROG_BYTES + SOCK_FILTER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 1, true);
  view.setBigUint64(8, BigInt(ptr(bytes, SOCK_FPROG_BYTES)), true);
  view.setUint16(SOCK_FPROG_BYTES, BPF_RET_K, true);
  view.setUint32(SOCK_FPROG_BYTES + 4, 1, true);
  return bytes;
}

const DESCRIPTORS = '/proc/self/fd';

function descriptorOf({ inode }: ListeningSocket): number {
  const found = readdirSync(DESCRIPTORS).find((name) => linkOf(`${DESCRIPTORS}/${name}`) === `socket:[${inode}]`);
  if (found === undefined) throw new Error('the new listener has no descriptor in /proc/self/fd');
  return Number(found);
}

/** A descriptor may be gone by the time it is looked at. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

export const LINUX_HANDOVER: PortHandover = { listeningSockets: (port) => listeningSockets(port), steerToLast };
