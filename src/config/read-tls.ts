// The certificate that this router shows (E11). Judged before anything listens: a pair that does not fit would else
// show as a failed handshake at the first client.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { fault, ok, type Result } from '../lib/result.ts';
import { nameOf } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { type ReadFile, SettingsReader } from './settings-reader.ts';

export interface TlsConfig {
  readonly certFile: string;
  readonly keyFile: string;
  /** Certificate chain and private key, PEM text. */
  readonly cert: string;
  readonly key: string;
}

/** Undefined without TLS, or when something was refused. */
export function readTls(reader: SettingsReader): TlsConfig | undefined {
  const { tlsCertFile, tlsKeyFile } = SETTINGS;
  const hasCert = reader.given(tlsCertFile) !== undefined;
  const hasKey = reader.given(tlsKeyFile) !== undefined;
  if (hasCert && !hasKey) reader.refuse(tlsKeyFile, `required with ${nameOf(tlsCertFile)}`);
  if (hasKey && !hasCert) reader.refuse(tlsCertFile, `required with ${nameOf(tlsKeyFile)}`);
  const certFile = reader.readOptional(tlsCertFile);
  const keyFile = reader.readOptional(tlsKeyFile);
  const cert = certFile === undefined ? undefined : reader.readFile(tlsCertFile, certFile, { isPrivate: false });
  const key = keyFile === undefined ? undefined : reader.readFile(tlsKeyFile, keyFile, { isPrivate: true });
  if (certFile === undefined || keyFile === undefined || cert === undefined || key === undefined) return undefined;
  const config = { certFile, keyFile, cert, key };
  return isPair(reader, config) ? config : undefined;
}

/** The same files, read again and judged as at the start. The fault is every reason against them. */
export function rereadTls({ certFile, keyFile }: TlsConfig, readFile: ReadFile): Result<TlsConfig, readonly string[]> {
  const files = [
    [SETTINGS.tlsCertFile.flag, [certFile]],
    [SETTINGS.tlsKeyFile.flag, [keyFile]],
  ] as const;
  const reader = new SettingsReader({ flags: new Map(files), env: {}, readFile });
  const tls = readTls(reader);
  return tls === undefined ? fault(reader.errors) : ok(tls);
}

function isPair(reader: SettingsReader, { certFile, keyFile, cert, key }: TlsConfig): boolean {
  const certificate = parseOrNothing(() => new X509Certificate(cert));
  const privateKey = parseOrNothing(() => createPrivateKey(key));
  if (certificate === undefined) reader.refuseFile(SETTINGS.tlsCertFile, 'holds no PEM certificate', certFile);
  if (privateKey === undefined) reader.refuseFile(SETTINGS.tlsKeyFile, 'holds no PEM private key', keyFile);
  if (certificate === undefined || privateKey === undefined) return false;
  const fits = certificate.checkPrivateKey(privateKey);
  if (!fits) reader.refuseFile(SETTINGS.tlsKeyFile, 'not the key of the certificate', keyFile);
  return fits;
}

/** The parsers of node:crypto throw for every text that is none, and their words differ between runtimes. */
function parseOrNothing<Parsed extends X509Certificate | KeyObject>(parse: () => Parsed): Parsed | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
