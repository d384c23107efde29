// A certificate for loopback, made by an authority of its own.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';

/** PEM texts. `ca` is the authority's. */
export type Certificate = { readonly cert: string; readonly key: string; readonly ca: string };

/** This process trusts the authority from now on. */
export function trusted(made: Certificate): Certificate {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), made.ca]);
  return made;
}

/** A certificate for names such as `DNS:localhost`, for a day. */
export function makeCertificate(names: readonly string[]): Certificate {
  const dir = mkdtempSync(join(tmpdir(), 'parley-certificate-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  try {
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');
    const authority = '-keyout ca.key -out ca.pem -days 1 -subj'.split(' ');
    openssl('req', '-x509', ...key, ...authority, '/CN=Parley test authority');
    openssl('req', ...key, ...'-keyout key.pem -out req.pem -subj /CN=localhost'.split(' '));
    writeFileSync(join(dir, 'ext'), `subjectAltName=${names.join()}\n`);
    const signed = '-req -in req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 1'.split(' ');
    openssl('x509', ...signed, '-extfile', 'ext', '-out', 'cert.pem');
    const text = (name: string) => readFileSync(join(dir, name), 'utf8');
    return { cert: text('cert.pem'), key: text('key.pem'), ca: text('ca.pem') };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
