import { describe, expect, test } from '@jest/globals';
import { fillIn, parseEnvironmentFile, readDeployed } from '../src/high-availability/cluster.ts';

describe('the files of deploy/postgres', () => {
  test('name everything that a node has of its own as a placeholder, and nothing else', async () => {
    const files = await Promise.all(['node.yml', 'etcd.env', 'restore.yml'].map(readDeployed));
    const names = files.flatMap((file) => [...file.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
    expect([...new Set(names)].toSorted()).toEqual([
      'BIN_DIRECTORY',
      'DATA_DIRECTORY',
      'ETCD_ADDRESSES',
      'ETCD_CLIENT_URL',
      'ETCD_CLUSTER',
      'ETCD_DATA_DIRECTORY',
      'ETCD_PEER_URL',
      'NODE_NAME',
      'PATRONI_ADDRESS',
      'POSTGRES_ADDRESS',
      'REPLICATION_PASSWORD',
      'RESTORE_TIME',
      'RUN_DIRECTORY',
      'SUPERUSER_PASSWORD',
      'TLS_DIRECTORY',
    ]);
  });

  test('acknowledge a commit only when a second node has it', async () => {
    const patroni = await readDeployed('patroni.yml');
    for (const line of [
      'synchronous_mode: quorum',
      'synchronous_mode_strict: true',
      'synchronous_commit: "on"',
      'fsync: "on"',
    ]) {
      expect(patroni).toMatch(new RegExp(`^ +${line}$`, 'm'));
    }
  });

  test('admit nobody over the network without TLS and a password, and no superuser without a certificate', async () => {
    const patroni = await readDeployed('patroni.yml');
    const rules = [...patroni.matchAll(/^ +- ((?:host\w*|local)) .*?(\S+(?: (?:map|clientcert)=\S+)?)$/gm)];
    expect(rules.length).toBeGreaterThan(3);
    for (const [rule, kind, method] of rules) {
      const isPowerful = / (postgres|replicator) /.test(rule);
      const overNetwork = ['hostssl', `scram-sha-256${isPowerful ? ' clientcert=verify-ca' : ''}`];
      expect([kind, method]).toEqual(
        kind === 'local' ? ['local', expect.stringMatching(/^peer/)] : overNetwork,
      );
    }
  });
});

test('a placeholder without a value is an error that names it', () => {
  expect(() => fillIn(`port: \${PORT}`, {})).toThrow('no value for PORT');
  expect(fillIn(`port: \${PORT}`, { PORT: '5432' })).toBe('port: 5432');
});

test('an environment file may have comments, empty lines and values with equals signs', () => {
  const text = '# A=1\n\nETCD_CLUSTER=node1=https://a,node2=https://b\nETCD_NAME=node1\n';
  expect(parseEnvironmentFile(text)).toEqual({
    ETCD_CLUSTER: 'node1=https://a,node2=https://b',
    ETCD_NAME: 'node1',
  });
});
