import { join } from 'node:path';
import type { Programs } from './programs.ts';

const DAYS = '2';

/**
 * Makes an authority and one certificate for this machine, valid as server and client, in a new directory: `ca.crt`, `node.crt`,
 * `node.key`. Returns the directory.
 */
export async function makeCertificates(programs: Programs, parent: string): Promise<string> {
  const directory = await programs.makeDirectory(join(parent, 'tls'));
  const at = (name: string) => programs.inside(join(directory, name));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', DAYS];
  const openssl = (...args: string[]) => programs.run('openssl', args);
  await openssl(
    ...['req', '-x509', ...key, '-subj', '/CN=phds databases', '-keyout', at('ca.key'), '-out', at('ca.crt')],
    // Without it, Patroni on Python 3.13 trusts no certificate of the authority.
    ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
  );
  await openssl(
    ...['req', '-x509', ...key, '-subj', '/CN=node', '-CA', at('ca.crt'), '-CAkey', at('ca.key')],
    ...[
      '-addext',
      'subjectAltName=IP:127.0.0.1,DNS:localhost',
      '-addext',
      'basicConstraints=critical,CA:FALSE',
    ],
    ...[
      '-addext',
      'extendedKeyUsage=serverAuth,clientAuth',
      '-keyout',
      at('node.key'),
      '-out',
      at('node.crt'),
    ],
  );
  return directory;
}
