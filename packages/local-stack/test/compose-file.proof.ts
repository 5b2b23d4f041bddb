import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { toComposeSecrets } from '@phds/service-kit/keys/container-secrets';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { parse } from 'yaml';
import { repositoryRoot } from '../src/data-directory.ts';

/** The parts of a container of docker-compose.yml that are tested here. */
interface Container {
  readonly image: string;
  readonly user?: string;
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, object>>;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

/** An address where nothing listens. */
const NOBODY = '127.0.0.1:1';

const file = await readFile(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
const compose = parse(file, { merge: true }) as {
  services: Record<string, Container>;
  volumes: Record<string, null>;
};
const containers = Object.entries(compose.services);
const ours = containers.filter(([, { image }]) => image.startsWith('phds/'));

const { directory } = shared.use(openFilesOfTest());
const secrets = await toComposeSecrets(
  await ensureKeyFiles(directory),
  `postgresql://postgres@${NOBODY}/phds`,
);

/** The secret volumes that a container mounts, by mount point. */
function mountsOf({ volumes = [] }: Container) {
  return volumes
    .map((volume) => volume.split(':'))
    .flatMap(([name = '', path = '']) =>
      name.startsWith('secrets-') ? [{ path, secret: name.slice('secrets-'.length) }] : [],
    );
}

/** The containers that read secrets, i.e. all except the one that writes them. */
const readers = containers.filter(([name, each]) => name !== 'keys' && mountsOf(each).length > 0);

describe('the secrets of the compose file', () => {
  test('have one volume for each container, which is both written and mounted', () => {
    const named = Object.keys(compose.volumes).filter((name) => name.startsWith('secrets-'));
    const expected = Object.keys(secrets)
      .map((name) => `secrets-${name}`)
      .toSorted();
    expect(named.toSorted()).toEqual(expected);
    const mounted = new Set(
      readers.flatMap(([, each]) => mountsOf(each).map(({ secret }) => `secrets-${secret}`)),
    );
    expect([...mounted].toSorted()).toEqual(expected);
  });

  test.each(readers)(
    '%s mounts only its own volume and finds each file that its settings name',
    (_, container) => {
      const mounts = mountsOf(container);
      expect(mounts.length).toBe(1);
      const given = mounts.flatMap(({ path, secret }) =>
        Object.keys(secrets[secret] ?? {}).map((name) => `${path}/${name}`),
      );
      const named = Object.values(container.environment ?? {}).filter((value) =>
        value.startsWith('/run/phds/'),
      );
      expect(given).toEqual(expect.arrayContaining(named));
    },
  );
});

test('the gateway reaches the identity provider at the address that its sessions name', () => {
  const { gateway, 'identity-provider': provider } = compose.services;
  const { OIDC_ISSUER, OIDC_CLIENT_ID, SESSION_ISSUER, SESSION_AUDIENCE, PUBLIC_URL } =
    gateway?.environment ?? {};
  const { ISSUER, CLIENT_ID, GATEWAY_URLS, PORT } = provider?.environment ?? {};
  expect([ISSUER, SESSION_ISSUER]).toEqual([OIDC_ISSUER, OIDC_ISSUER]);
  expect([CLIENT_ID, SESSION_AUDIENCE]).toEqual([OIDC_CLIENT_ID, OIDC_CLIENT_ID]);
  expect(GATEWAY_URLS).toBe(PUBLIC_URL);
  expect(provider?.networks).toEqual({ outside: { aliases: ['identity-provider.localhost'] } });
  expect(gateway?.networks).toContain('outside');
  expect(OIDC_ISSUER).toBe(`http://identity-provider.localhost:${PORT}`);
  expect(provider?.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
});

test('the overlay of the sandbox sets the mode, which the file alone does not', async () => {
  const overlay: typeof compose = parse(
    await readFile(join(repositoryRoot, 'deploy/docker-compose.sandbox.yml'), 'utf8'),
  );
  for (const [name, { environment }] of Object.entries(overlay.services)) {
    expect(environment).toEqual({ SANDBOX: 'true' });
    expect(compose.services[name]?.environment?.['SANDBOX']).toBeUndefined();
  }
  expect(Object.keys(overlay.services)).toEqual(['gateway', 'consent', 'health-data']);
});

test.each(ours)('%s runs confined', (name, { user, read_only, cap_drop, security_opt }) => {
  expect({ read_only, cap_drop, security_opt }).toEqual({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect({ name, isRoot: user !== undefined }).toEqual({
    name,
    isRoot: ['keys', 'databases'].includes(name),
  });
});

describe('the commands that operators run by hand', () => {
  /** Runs a command as its container would, with its secrets and with unreachable services. */
  async function run(name: string, args: readonly string[]) {
    const container = compose.services[name];
    const [node, ...entrypoint] = container?.entrypoint ?? [];
    expect(node).toBe('node');
    const [mount] = mountsOf(container as Container);
    const given = Object.entries(secrets[mount?.secret ?? ''] ?? {});
    const volume = join(directory, name);
    await mkdir(volume, { recursive: true });
    for (const [each, content] of given) await writeFile(join(volume, each), content);
    const settings = Object.entries(container?.environment ?? {}).map(([key, value]) => [
      key,
      key.endsWith('_ADDRESS') ? NOBODY : value.replace(mount?.path ?? '', volume),
    ]);
    const env = { PATH: process.env['PATH'], ...Object.fromEntries(settings) };
    const { promise, resolve } = Promise.withResolvers<string>();
    const options = { cwd: repositoryRoot, env };
    execFile(process.execPath, [...entrypoint, ...args], options, (_error, _output, errors) =>
      resolve(errors),
    );
    return promise;
  }

  test.each([
    ['operator', 'erase --user ada --confirm ada --reason moved', 'authorization does not answer.\n'],
    ['operator', 'records verify', 'The database does not answer.\n'],
    ['importer', 'imports --user ada', expect.stringContaining('health-data does not answer.')],
  ])('%s %s has every required setting', async (container, args, outcome) => {
    expect(await run(container, args.split(' '))).toEqual(outcome);
  });
});
