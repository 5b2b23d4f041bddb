import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, createAuthority, openAuthority } from '@phds/service-kit/keys/authority';
import {
  type SecretFiles,
  toHeldSecrets,
  toKubernetesSecrets,
  toSecretList,
} from '@phds/service-kit/keys/container-secrets';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { CALLER_NAME } from '@phds/service-kit/trust/callers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseNotEmpty, parsePath } from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings, toJson } from './command.ts';

/** Adds `phds keys`. */
export function addKeys(program: Command, { finish, streams }: Surrounded): void {
  program
    .command('keys')
    .description('Makes the keys of a deployment.')
    .command('make')
    .description(
      'Makes all keys, key sets, passwords and certificates that a deployment needs, and keeps those that the directory has: a directory for each service, for the operator and for imports (docs/operations/first-deployment.md).',
    )
    .argument('<directory>', 'where they are', parsePath)
    .addOption(
      new Option('--operator <name>', 'the first operator').argParser(parseOperator).default('first'),
    )
    .addOption(
      new Option(
        '--domain <domain>',
        'the certificates are also for the names of the services in it, such as consent.DOMAIN',
      ).argParser(parseNotEmpty),
    )
    .addOption(
      new Option('--postgres <url>', 'server and database, without a user; parameters such as sslmode stay')
        .argParser(parseDatabase)
        .default('postgresql://postgres:5432/phds'),
    )
    .addOption(new Option('--redis <url>', 'Redis, with its password').argParser(parseNotEmpty))
    .addOption(
      new Option(
        '--kubernetes <installation>',
        'print the secrets of this directory of deploy/kubernetes instead',
      ).choices(['production', 'single-node']),
    )
    .action(async (directory: string, options: Omit<KeysArguments, 'directory'>) =>
      finish(await makeKeys({ directory, ...options }, streams)),
    );
}

function parseOperator(value: string): string {
  if (CALLER_NAME.test(value)) return value;
  throw new InvalidArgumentError('It must be a name in lower case.');
}

function parseDatabase(value: string): string {
  const { protocol, username, pathname = '' } = URL.parse(value) ?? {};
  if (protocol?.startsWith('postgres') && username === '' && pathname.length > 1) return value;
  throw new InvalidArgumentError('It must be postgresql://HOST:PORT/DATABASE.');
}

interface KeysArguments {
  readonly directory: string;
  /** Name of the first operator. */
  readonly operator: string;
  /** Domain of the services' host names. */
  readonly domain?: string;
  /** Server and database, without a user. */
  readonly postgres: string;
  readonly redis?: string;
  readonly kubernetes?: 'production' | 'single-node';
}

/** Time of the authority and of its certificates: renewing them is a task of the deployment's own authority. */
const CERTIFICATE_DAYS = 365;

/**
 * Makes the keys of a deployment and keeps those that the directory has: all of them in `all`, and for each holder a directory with what it
 * holds. Or prints them as secrets. Returns the exit code.
 */
export async function makeKeys(
  args: KeysArguments,
  { output, errors }: Pick<Surroundings<never>, 'output' | 'errors'>,
): Promise<number> {
  try {
    const all = join(args.directory, 'all');
    await mkdir(all, { recursive: true });
    await chmod(args.directory, 0o700);
    const keys = await ensureKeyFiles(all, args.operator);
    if (args.kubernetes === 'single-node') {
      output.write(toJson(toSecretList(await toKubernetesSecrets(keys), 'phds')));
      return EXIT_DONE;
    }
    const { secrets, migrations } = await toHeldSecrets(keys, args.postgres, args.redis);
    const authority = await ensureAuthority(all);
    const certificates = await ensureCertificates(args, Object.keys(secrets), authority);
    if (args.kubernetes === 'production') {
      const named = [
        ...Object.entries(secrets).map(([name, files]) => [`${name}-secrets`, files] as const),
        ...Object.entries(certificates).map(([name, files]) => [`${name}-tls`, files] as const),
        ...Object.entries(migrations).map(
          ([name, url]) => [`migrate-${name}-secrets`, { 'database-url': url }] as const,
        ),
      ];
      output.write(toJson(toSecretList(Object.fromEntries(named), 'phds')));
      return EXIT_DONE;
    }
    for (const [holder, files] of Object.entries(secrets)) {
      await writeFiles(join(args.directory, holder, 'secrets'), files, 0o700, 0o600);
      await chmod(join(args.directory, holder), 0o755);
    }
    for (const [service, url] of Object.entries(migrations))
      await writeFiles(join(args.directory, service), { 'owner.database-url': url }, 0o755, 0o600);
    output.write(
      `${args.directory}: ${Object.keys(secrets).join(', ')}, each with what it holds; all keys in ${all}\n`,
    );
    return EXIT_DONE;
  } catch (error) {
    const { syscall, message, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    errors.write(
      code === 'ENOENT' && syscall.startsWith('spawn')
        ? 'The program openssl (3.0 or later) is needed, for the certificates.\n'
        : `${message}\n`,
    );
    return EXIT_FAILED;
  }
}

async function ensureAuthority(directory: string): Promise<Authority> {
  const [certFile, keyFile] = [join(directory, 'ca.crt'), join(directory, 'ca.key')];
  const known = await readPair(certFile, keyFile);
  if (known !== null) return openAuthority(known, CERTIFICATE_DAYS);
  const authority = createAuthority('/CN=phds internal', CERTIFICATE_DAYS);
  await writeFiles(directory, { 'ca.crt': authority.ca, 'ca.key': authority.key }, 0o700, 0o600);
  return authority;
}

/** The files of each holder's `tls`, for its name and for that in the domain. */
async function ensureCertificates(
  { directory, domain }: KeysArguments,
  holders: readonly string[],
  authority: Authority,
): Promise<SecretFiles> {
  const certificates: Record<string, Record<string, string>> = {};
  for (const holder of holders) {
    const tls = join(directory, holder, 'tls');
    const names = [holder, ...(domain === undefined ? [] : [`${holder}.${domain}`])];
    const { cert, key } =
      (await readPair(join(tls, 'tls.crt'), join(tls, 'tls.key'))) ??
      authority.issue(...names.map((name) => `DNS:${name}`));
    const files = { 'ca.crt': authority.ca, 'tls.crt': cert, 'tls.key': key };
    // The group of the services reads them (docs/operations/deploy.md#machines-without-containers).
    await writeFiles(tls, files, 0o750, 0o640);
    certificates[holder] = files;
  }
  return certificates;
}

async function readPair(certFile: string, keyFile: string) {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '');
  const [cert, key] = [await read(certFile), await read(keyFile)];
  return cert === '' || key === '' ? null : { cert, key };
}

async function writeFiles(
  directory: string,
  files: Readonly<Record<string, string>>,
  directoryMode: number,
  mode: number,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  // Whatever the umask of the operator is.
  await chmod(directory, directoryMode);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), content, { mode });
    await chmod(join(directory, name), mode);
  }
}
