import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/house-rules/repository';
import { toKubernetesSecrets } from '@phds/service-kit/keys/container-secrets';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { describeWith } from '@phds/test-kit/requirements';
import { shared } from '@phds/test-kit/shared';
import { importerSettings } from '../../../packages/cli/src/connection.ts';
import { operatorSettings } from '../../../packages/cli/src/operator/connection.ts';
import { recordsSettings } from '../../../packages/cli/src/records/connection.ts';
import { SERVICES } from '../src/kubernetes/network.ts';
import { placeSecrets } from '../src/kubernetes/settings.ts';

const units = join(repositoryRoot, 'deploy/systemd');
const TLS_FILES = { 'ca.crt': 'authority', 'tls.crt': 'certificate', 'tls.key': 'key' };

const { directory } = shared.use(openFilesOfTest());

/** What systemd gives a service: `Environment=` of the unit, then the files. */
function environmentOf(service: string): Record<string, string> {
  const unit = readFileSync(join(units, 'phds@.service'), 'utf8');
  const own = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) => pairs.split(' '));
  const files = ['common', service].flatMap((name) =>
    readFileSync(join(units, 'settings', `${name}.env`), 'utf8').split('\n'),
  );
  const lines = [...own, ...files].filter((line) => line !== '' && !line.startsWith('#'));
  const pairs = lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]);
  const { NODE_ENV, ...rest } = Object.fromEntries(pairs);
  expect(NODE_ENV).toBe('production');
  const specifiers = { '%d': `/run/credentials/phds@${service}.service`, '%i': service } as const;
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      value.replace(/%[di]/g, (specifier) => specifiers[specifier as '%d' | '%i']),
    ]),
  );
}

test.each(SERVICES)(
  '$service has valid settings, and every secret from a file',
  async ({ service, schema, readEnvironment }) => {
    const environment = environmentOf(service);
    const known = Object.keys(schema.shape);
    expect(Object.keys(environment).filter((name) => !known.includes(name.replace(/_FILE$/, '')))).toEqual(
      [],
    );
    const generated = await toKubernetesSecrets(await ensureKeyFiles(directory));
    const redis = { 'redis-url': 'rediss://:password@redis.example.com:6379' };
    const secrets = Object.entries({ ...generated[`${service}-secrets`], ...redis });
    const files = {
      secrets: Object.fromEntries(secrets.map(([name, text]) => [`secrets_${name}`, text])),
      tls: TLS_FILES,
    };
    const paths = Object.entries(environment).flatMap(([name, value]) =>
      name.endsWith('_FILE') ? [value] : [],
    );
    const mounts = [
      { secret: 'secrets', path: `/run/credentials/phds@${service}.service` },
      { secret: 'tls', path: `/etc/phds/${service}/tls` },
    ];
    for (const path of paths) {
      const { secret } = mounts.find((mount) => mount.path === dirname(path)) ?? {};
      expect(Object.keys(secret === 'tls' ? files.tls : files.secrets)).toContain(basename(path));
    }
    expect(() =>
      readEnvironment(placeSecrets(environment, mounts, files, join(directory, service))),
    ).not.toThrow();
  },
);

describeWith('systemd-analyze', spawnSync('systemd-analyze', ['--version']).status === 0)('the units', () => {
  test.each(['phds@.service', 'phds-migrate@.service'])(
    '%s is understood, and gives its process few rights',
    (name) => {
      const unit = join(directory, name.replace('@', '@consent'));
      const text = readFileSync(join(units, name), 'utf8');
      // Each service has a user of its own.
      expect(text).toMatch(/^User=\S+%i$/m);
      // The program has to exist on the machine of the test.
      writeFileSync(unit, text.replaceAll('/usr/bin/node', process.execPath));
      const verify = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
      expect([verify.status, verify.stderr.split('\n').filter((line) => line.includes(directory))]).toEqual([
        0,
        [],
      ]);
      const rated = ['security', '--offline=true', `--threshold=${name.startsWith('phds@') ? 20 : 65}`, unit];
      const { status, stdout } = spawnSync('systemd-analyze', ['--no-pager', ...rated], { encoding: 'utf8' });
      expect([status, stdout.split('\n').findLast((line) => line.includes('Overall'))]).toEqual([
        0,
        expect.anything(),
      ]);
    },
  );
});

test.each([
  { words: ['records', 'verify'], settings: 'operator' },
  { words: ['import', 'csv'], settings: 'importer' },
])('the command phds runs $words with settings that the command has', ({ words, settings }) => {
  const [env = '', key = ''] = ['env', 'pem'].map((name) => join(directory, `${settings}.${name}`));
  const lines = readFileSync(join(units, 'settings', `${settings}.env`), 'utf8');
  writeFileSync(key, 'a key');
  writeFileSync(env, lines.replaceAll(/=\/etc\S+/g, `=${key}`));
  const script = readFileSync(join(units, 'phds'), 'utf8')
    .replace('/usr/bin/node /opt/phds/current/packages/cli/src/main.ts', 'env')
    .replace('"$@"', '');
  const known = [
    operatorSettings(['authorization', 'consent', 'health-data']),
    recordsSettings,
    importerSettings,
  ];
  const names = known.flatMap((schema) => Object.keys(schema.shape));
  const { stdout, status } = spawnSync('sh', ['-c', script, 'phds', ...words], {
    env: { PATH: process.env['PATH'], PHDS_ENV: env },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const given = [...lines.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(stdout.split('\n').map((line) => line.split('=')[0])).toEqual(expect.arrayContaining(given));
  expect(given.filter((name) => !names.includes(name.replace(/_FILE$/, '')))).toEqual([]);
});
