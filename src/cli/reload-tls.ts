// The certificate, read again and shown to every new connection (E11).

import { X509Certificate } from 'node:crypto';
import { rereadTls, type TlsConfig } from '../config/read-tls.ts';
import { rereadTextFile } from '../config/text-file.ts';
import { fault, ok } from '../lib/result.ts';
import type { Listener } from '../runtime/runtime.ts';
import type { Reloadable } from './reload.ts';

/** Renews the certificate of `listener` from its files. Nothing to do without TLS. */
export function tlsReload(tls: TlsConfig | undefined, listener: Listener): readonly Reloadable[] {
  if (tls === undefined) return [];
  const reload: Reloadable['reload'] = async () => {
    const read = rereadTls(tls, rereadTextFile);
    if (!read.ok) return read;
    try {
      await listener.renew(read.value);
    } catch (error) {
      return fault([error instanceof Error ? error.message : 'unknown reason']);
    }
    return ok({ valid_until: new X509Certificate(read.value.cert).validTo });
  };
  return [{ name: 'TLS certificate', reload }];
}
