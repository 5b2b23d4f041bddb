import { CALLER_NAME } from '@phds/service-kit/trust/callers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type KeysArguments, makeKeys } from '../commands/keys.ts';
import { parseNotEmpty, parsePath } from '../options.ts';
import type { Surrounded } from './surroundings.ts';

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
