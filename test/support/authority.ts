// A throwaway certificate authority, so that tests and the demo speak HTTPS without openssl and without trust in
// anything outside the run.

import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const LIFETIME_MS = 24 * 3_600_000;

export interface Identity {
  /** PEM certificate. */
  readonly cert: string;
  /** PEM private key, PKCS #8. */
  readonly key: string;
}

export interface Authority {
  /** PEM certificate to trust. */
  readonly cert: string;
  /** A certificate for host names and IPv4 addresses, valid for a day. */
  issue(...hosts: readonly string[]): Promise<Identity>;
}

/** Makes a new authority with a key that never leaves this process. */
export async function createAuthority(nowMs: number = Date.now()): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
  const validity = { notBefore: new Date(nowMs - 60_000), notAfter: new Date(nowMs + LIFETIME_MS) };
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=Throwaway test authority',
    ...validity,
    signingAlgorithm: KEY_ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    cert: authority.toString('pem'),
    issue: async (...hosts) => {
      const own = await crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: `CN=${hosts[0] ?? 'unnamed'}`,
        issuer: authority.subject,
        ...validity,
        signingAlgorithm: KEY_ALGORITHM,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(hosts.map(alternativeName)),
        ],
      });
      return { cert: certificate.toString('pem'), key: await privateKeyPem(own.privateKey) };
    },
  };
}

function alternativeName(host: string): { type: 'ip' | 'dns'; value: string } {
  return { type: /^[0-9.]+$/.test(host) ? 'ip' : 'dns', value: host };
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}

/** Positive and unique; two certificates of one issuer with one number confuse clients. */
function serialNumber(): string {
  return `01${Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex')}`;
}
