import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/house-rules/repository';
import { toSettingRows } from '@phds/house-rules/settings-table';
import type { SecretFiles } from '@phds/service-kit/keys/container-secrets';
import { readConfig } from '@phds/service-kit/settings/config';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { describeWith } from '@phds/test-kit/requirements';
import { shared } from '@phds/test-kit/shared';
import { makeKeys } from '../../../packages/cli/src/commands/keys.ts';
import { importerSettings } from '../../../packages/cli/src/connection.ts';
import { operatorSettings } from '../../../packages/cli/src/operator/connection.ts';
import { recordsSettings } from '../../../packages/cli/src/records/connection.ts';
import {
  build,
  containersOf,
  findSchemaProblems,
  getObject,
  hasKubectl,
  type KubernetesObject,
  listWorkloads,
  OVERLAYS,
  type Overlay,
} from '../src/kubernetes/objects.ts';
import { placeSecrets, SERVICES, secretMountsOf, toEnvironment } from '../src/kubernetes/settings.ts';

/** Prints what `phds keys make` prints for this installation. */
async function makeSecrets(kubernetes: 'production' | 'single-node') {
  const output = { text: '', write: (text: string) => (output.text += text) };
  const postgres = 'postgresql://postgres.example.com/phds';
  const args = { directory: join(directory, 'keys'), operator: 'kim', postgres, kubernetes };
  await makeKeys({ ...args, redis: 'rediss://:password@redis.example.com:6379' }, { output, errors: output });
  return JSON.parse(output.text).items as (KubernetesObject & { stringData: Record<string, string> })[];
}
const INSTALLATIONS = ['production', 'single-node'] as const;

const { directory } = shared.use(openFilesOfTest());
const made = { production: await makeSecrets('production'), 'single-node': await makeSecrets('single-node') };
const toFiles = (items: typeof made.production): SecretFiles =>
  Object.fromEntries(items.map(({ metadata, stringData }) => [metadata.name, stringData]));
const secrets = { production: toFiles(made.production), 'single-node': toFiles(made['single-node']) };

/** The container of a service in an overlay, or the only one of a command, with its environment and secrets. */
function getContainer(objects: readonly KubernetesObject[], service?: string) {
  const workload = listWorkloads(objects).find(
    ({ kind, name }) => service === undefined || (kind === 'Deployment' && name === service),
  );
  const containers = workload === undefined ? [] : containersOf(workload);
  const container = containers.find(({ name }) => name === (service ?? name));
  if (workload === undefined || container === undefined) throw new Error(`no container of ${service}`);
  const environment = toEnvironment(objects, container);
  return { workload, container, environment, mounts: secretMountsOf(workload, container) };
}

/** The environment of a container, with its secret files in a directory of their own. */
function place(overlay: Overlay, { environment, mounts }: ReturnType<typeof getContainer>) {
  const own = overlay === 'single-node' ? secrets['single-node'] : secrets.production;
  return placeSecrets(environment, mounts, own, join(directory, randomUUID()));
}

/** The file with the id of a person, in the words of a command. */
const PERSON = '/run/person/id';

/** Each mounted secret, and the files of it that the container's settings name. */
function listSecretFiles(objects: readonly KubernetesObject[]) {
  return listWorkloads(objects).flatMap((workload) =>
    containersOf(workload).flatMap((container) => {
      const values = [...Object.values(toEnvironment(objects, container)), PERSON];
      return secretMountsOf(workload, container).map(({ secret, path }) => ({
        secret,
        files: values.flatMap((value) => (value.startsWith(`${path}/`) ? value.slice(path.length + 1) : [])),
      }));
    }),
  );
}

const listSecretsOfProduction = () =>
  OVERLAYS.filter((overlay) => overlay.startsWith('production')).flatMap((overlay) =>
    listSecretFiles(build(overlay)),
  );

const toSettingName = (variable: string) => variable.replace(/_FILE$/, '');

describeWith('kubectl 1.27', hasKubectl())('the settings in the Kubernetes manifests', () => {
  const cases = INSTALLATIONS.flatMap((overlay) => SERVICES.map((each) => ({ overlay, ...each })));

  test.each(cases)(
    '$service of $overlay reads its environment and secret files as a valid configuration, and offers the ports that it listens on',
    ({ overlay, service, schema, readEnvironment }) => {
      const found = getContainer(build(overlay), service);
      const { container, environment } = found;
      const known = toSettingRows(schema).map(({ name }) => name);
      expect(known).toEqual(expect.arrayContaining(Object.keys(environment).map(toSettingName)));
      const { SESSION_ISSUER, SESSION_AUDIENCE, ...config } = readEnvironment(place(overlay, found));
      expect([SESSION_ISSUER, SESSION_AUDIENCE]).toEqual([environment['SESSION_ISSUER'], ['phds']]);
      expect('openid' in config ? config.openid : 'nobody signs in here').not.toBeNull();
      const ports = container.ports?.map((port) => [port.name, port.containerPort]) ?? [];
      expect(Object.fromEntries(ports)).toEqual({
        ...('PORT' in config ? { http: config.PORT } : { rpc: config.RPC_PORT }),
        probes: config.PROBE_PORT,
      });
    },
  );

  test.each(cases)(
    '$service of $overlay has every secret from a file of a secret of its own',
    ({ overlay, service, schema }) => {
      const { environment, mounts } = getContainer(build(overlay), service);
      expect(mounts.map(({ secret }) => secret).toSorted()).toEqual(
        overlay === 'production' ? [`${service}-secrets`, `${service}-tls`] : [`${service}-secrets`],
      );
      const files = mounts.flatMap(({ secret, path }) =>
        Object.keys(secrets[overlay][secret] ?? {}).map((file) => `${path}/${file}`),
      );
      const rows = toSettingRows(schema);
      for (const [variable, value] of Object.entries(environment)) {
        const { secret = '' } = rows.find(({ name }) => name === toSettingName(variable)) ?? {};
        if (variable.endsWith('_FILE')) expect(files).toContain(value);
        else if (secret !== '') expect([variable, URL.parse(value)?.password]).toEqual([variable, '']);
      }
    },
  );

  test.each(INSTALLATIONS)(
    'the addresses of %s are headless Services, at ports that their pods have',
    (overlay) => {
      const objects = build(overlay);
      const addresses = SERVICES.flatMap(({ service }) =>
        Object.entries(getContainer(objects, service).environment).filter(([name]) =>
          name.endsWith('_ADDRESS'),
        ),
      );
      expect(addresses.length).toBe(5);
      for (const [, address] of addresses) {
        const [, name = '', port] = /^dns:\/\/\/([\w-]+):(\d+)$/.exec(address) ?? [];
        const { spec } = getObject(objects, 'Service', name);
        expect(spec).toMatchObject({ clusterIP: 'None', ports: [{ port: Number(port), targetPort: 'rpc' }] });
        const { container } = getContainer(objects, name);
        expect(container.ports).toContainEqual({ name: 'rpc', containerPort: Number(port) });
      }
    },
  );

  test.each(INSTALLATIONS)('%s names its public address alike everywhere', (overlay) => {
    const objects = build(overlay);
    const { PUBLIC_URL = '' } = getContainer(objects, 'gateway').environment;
    expect(getContainer(objects, 'authorization').environment['ISSUER']).toBe(PUBLIC_URL);
    const hosts = (objects as unknown as { kind: string; spec: { rules: { host: string }[] } }[])
      .filter(({ kind }) => kind === 'Ingress')
      .flatMap(({ spec }) => spec.rules.map(({ host }) => host));
    expect(hosts).toEqual(overlay === 'production' ? [new URL(PUBLIC_URL).hostname] : []);
  });

  const ofServices = operatorSettings(['authorization', 'consent', 'health-data']);
  const asOperator = (environment: NodeJS.ProcessEnv) => ({
    ...readConfig(recordsSettings, environment),
    ...readConfig(ofServices, environment),
  });
  const asImporter = (environment: NodeJS.ProcessEnv) => readConfig(importerSettings, environment);

  test.each([
    { overlay: 'production/command', read: asOperator, schemas: [ofServices, recordsSettings] },
    { overlay: 'production/person', read: asOperator, schemas: [ofServices, recordsSettings] },
    { overlay: 'production/import', read: asImporter, schemas: [importerSettings] },
  ] as const)('the job of $overlay has valid settings', ({ overlay, read, schemas }) => {
    const found = getContainer(build(overlay));
    const known = schemas.flatMap((schema) => Object.keys(schema.shape));
    expect(known).toEqual(expect.arrayContaining(Object.keys(found.environment).map(toSettingName)));
    expect(read(place(overlay, found))).toMatchObject({
      TLS_CA: expect.stringContaining('BEGIN CERTIFICATE'),
    });
  });

  test.each(['production/person', 'production/import'] as const)(
    'the job of %s has the id of the person from a secret, and a volume for what names the person',
    (overlay) => {
      const { workload, container, mounts } = getContainer(build(overlay));
      const { args, volumeMounts = [] } = container;
      expect(args).toEqual(['packages/cli/src/main.ts']);
      expect(mounts).toContainEqual({ secret: 'person', path: dirname(PERSON) });
      const mounted = volumeMounts.find(({ mountPath }) => mountPath === '/files')?.name;
      const volume = workload.template.spec?.volumes?.find(({ name }) => name === mounted);
      expect(volume?.persistentVolumeClaim).toEqual({ claimName: 'personal-files' });
    },
  );

  test('the secrets made for an evaluation are valid objects, and those that its pods mount', () => {
    const items = made['single-node'];
    expect(items.flatMap(findSchemaProblems)).toEqual([]);
    const mounted = (['single-node', 'single-node/migrations'] as const).flatMap((overlay) =>
      listSecretFiles(build(overlay)).map(({ secret }) => secret),
    );
    const ofCommands = ['operator-secrets', 'importer-secrets'];
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      [...mounted, ...ofCommands].toSorted(),
    );
  });

  test('the secrets made for production are valid objects, with every file that its pods read but the person and a certificate for browsers', () => {
    expect(made.production.flatMap(findSchemaProblems)).toEqual([]);
    const missing = listSecretsOfProduction()
      .filter(({ secret }) => secret !== 'person')
      .flatMap(({ secret, files }) => files.filter((file) => !(file in (secrets.production[secret] ?? {}))));
    expect(missing).toEqual([]);
  });

  test('the operations page lists the files of every secret that production mounts', () => {
    const page = readFileSync(join(repositoryRoot, 'docs/operations/deploy.md'), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    for (const { secret, files } of listSecretsOfProduction()) {
      const row = rows.find((line) => line.split('|')[1]?.includes(`\`${secret}\``)) ?? '';
      const listed = [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file);
      expect([secret, ...listed.toSorted()]).toEqual([secret, ...files.toSorted()]);
    }
  });

  test.each(OVERLAYS)(
    '%s contains no secret, and each container mounts secrets of its own',
    (overlay: Overlay) => {
      const objects = build(overlay);
      const text = JSON.stringify(objects);
      expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
      expect(text).not.toMatch(/PRIVATE KEY|:\/\/[^/"\s:@]*:[^@"\s]+@/);
      const mounted = listWorkloads(objects).flatMap((workload) =>
        containersOf(workload).flatMap((container) =>
          secretMountsOf(workload, container).map(({ secret }) => ({ container: container.name, secret })),
        ),
      );
      const shared = mounted.filter(
        (one) => mounted.filter(({ secret }) => secret === one.secret).length > 1,
      );
      expect(shared).toEqual([]);
    },
  );
});

const SETTINGS_OF_COMMANDS = [
  operatorSettings(['authorization', 'consent', 'health-data']),
  recordsSettings,
  importerSettings,
];

const settingsOf = (...names: string[]) => names.map((name) => `settings/${name}.env`);

test.each([
  ...SERVICES.map(({ service, schema }) => ({
    files: ['phds@.service', ...settingsOf('common', service)],
    schemas: [schema],
  })),
  {
    files: ['phds-migrate@.service', ...settingsOf('operator', 'importer')],
    schemas: [{ shape: { MIGRATION_DATABASE_URL: null } }, ...SETTINGS_OF_COMMANDS],
  },
])('$files of deploy/systemd name only settings that their programs have', ({ files, schemas }) => {
  const known = schemas.flatMap((schema) => Object.keys(schema.shape));
  const lines = files
    .flatMap((name) => readFileSync(join(repositoryRoot, 'deploy/systemd', name), 'utf8').split('\n'))
    .flatMap((line) =>
      line.startsWith('Environment=') ? line.slice('Environment='.length).split(' ') : line,
    );
  const names = lines.flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(5);
  const programs = ['NODE_ENV'];
  const unknown = names.filter((name) => ![...known, ...programs].includes(toSettingName(name)));
  expect(unknown).toEqual([]);
});
