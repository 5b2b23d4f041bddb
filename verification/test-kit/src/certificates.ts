import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './requirements.ts';

/** A certificate with its private key, as PEM texts. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority that nobody else knows. */
export interface Authority {
  /** Its own certificate (PEM). */
  readonly ca: string;
  /** Issues a certificate for these names: `DNS:localhost`, `IP:127.0.0.1`. Valid for a month. */
  issue(...names: string[]): IssuedCertificate;
}

/** `describe` for tests with certificates; skipped when there is no openssl. */
export const describeWithCertificates = describeWith(
  'openssl',
  spawnSync('openssl', ['version']).status === 0,
);

/** Creates a certificate authority with the program openssl (3.0 or later). */
export function createAuthority(): Authority {
  const [ca, key] = request('/CN=test authority', ['-addext', 'basicConstraints=critical,CA:TRUE']);
  return {
    ca,
    issue: (...names) =>
      inDirectory((directory) => {
        const [caFile, keyFile] = [join(directory, 'ca.pem'), join(directory, 'ca.key')];
        writeFileSync(caFile, ca);
        writeFileSync(keyFile, key);
        const signed = ['-CA', caFile, '-CAkey', keyFile, '-addext', `subjectAltName=${names.join(',')}`];
        const [cert, ownKey] = request('/CN=test', [
          ...signed,
          '-addext',
          'basicConstraints=critical,CA:FALSE',
        ]);
        return { cert, key: ownKey };
      }),
  };
}

/** A new key and a certificate for it: [certificate, key]. */
function request(subject: string, options: readonly string[]): readonly [string, string] {
  return inDirectory((directory) => {
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'cert.key')];
    const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-keyout', key];
    execFileSync(
      'openssl',
      ['req', '-x509', ...pair, '-out', cert, '-subj', subject, '-days', '30', ...options],
      {
        stdio: 'pipe',
      },
    );
    return [readFileSync(cert, 'utf8'), readFileSync(key, 'utf8')] as const;
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
