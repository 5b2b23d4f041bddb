import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate with its private key, as PEM texts. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority. */
export interface Authority {
  /** Its own certificate (PEM). */
  readonly ca: string;
  /** Its private key (PEM). */
  readonly key: string;
  /** Issues a certificate for these names: `DNS:localhost`, `IP:127.0.0.1`. */
  issue(...names: string[]): IssuedCertificate;
}

/** Creates a certificate authority with the program openssl (3.0 or later). It and what it issues are valid for `days`. */
export function createAuthority(subject = '/CN=test authority', days = 30): Authority {
  return openAuthority(request(subject, days, ['-addext', 'basicConstraints=critical,CA:TRUE']), days);
}

/** The authority that has this certificate and key. */
export function openAuthority({ cert: ca, key }: IssuedCertificate, days: number): Authority {
  return {
    ca,
    key,
    issue: (...names) =>
      inDirectory((directory) => {
        const [caFile, keyFile] = [join(directory, 'ca.pem'), join(directory, 'ca.key')];
        writeFileSync(caFile, ca);
        writeFileSync(keyFile, key);
        const signed = ['-CA', caFile, '-CAkey', keyFile, '-addext', `subjectAltName=${names.join(',')}`];
        return request('/CN=phds', days, [...signed, '-addext', 'basicConstraints=critical,CA:FALSE']);
      }),
  };
}

/** A new key and a certificate for it. */
function request(subject: string, days: number, options: readonly string[]): IssuedCertificate {
  return inDirectory((directory) => {
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'cert.key')];
    const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-keyout', key];
    const period = ['-days', String(days)];
    execFileSync(
      'openssl',
      ['req', '-x509', ...pair, '-out', cert, '-subj', subject, ...period, ...options],
      {
        stdio: 'pipe',
      },
    );
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  });
}

function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'phds-certificates-'));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
