import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readText } from '../src/alerts/rule-files.ts';

const common = parse(readText('deploy/postgres/patroni.yml'));
const node = parse(readText('deploy/postgres/node.yml'));

test('a database node admits administrators and replication from the network with a certificate and a password only', () => {
  const rules: string[] = common.postgresql.pg_hba;
  const remote = rules.map((rule) => rule.split(/ +/)).filter(([type]) => type !== 'local');
  expect(remote.map(([type, database, user, , ...how]) => [type, database, user, how.join(' ')])).toEqual([
    ['hostssl', 'phds', '/^phds_', 'scram-sha-256'],
    ['hostssl', 'all', 'postgres', 'scram-sha-256 clientcert=verify-ca'],
    ['hostssl', 'replication', 'replicator', 'scram-sha-256 clientcert=verify-ca'],
  ]);
  const { superuser, replication } = node.postgresql.authentication;
  const { ssl_ca_file: authority, ssl_cert_file: sslcert, ssl_key_file: sslkey } = node.postgresql.parameters;
  for (const role of [superuser, replication]) {
    expect(role).toMatchObject({ sslmode: 'verify-full', sslrootcert: authority, sslcert, sslkey });
  }
});
