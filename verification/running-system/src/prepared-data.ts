import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureDataDirectory, toDataDirectory } from '@phds/local-stack/data-directory';
import { prepareDatabases, startPostgres } from '@phds/local-stack/databases';
import { THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { askForServer, TEST_SERVERS_VARIABLE } from '@phds/test-kit/test-server-variables';
import type { TestServer } from '@phds/test-kit/test-servers';

const run = promisify(execFile);

/**
 * A data directory with keys and migrated, empty databases. The stacks of a test run begin with a copy of it, which costs less than
 * initdb and all migrations.
 */
export async function prepareData(): Promise<TestServer<string>> {
  const root = await mkdtemp(join(tmpdir(), 'phds-prepared-'));
  const stop = () => rm(root, { recursive: true, force: true });
  try {
    const directory = toDataDirectory(root);
    await ensureDataDirectory(directory);
    const keys = await ensureKeyFiles(directory.keys);
    const settings = THROWAWAY_SETTINGS;
    await using postgres = await startPostgres({
      directory,
      keys,
      port: 0,
      settings,
      onLog: () => undefined,
    });
    await prepareDatabases(postgres.adminUrl, keys);
  } catch (error) {
    await stop();
    throw error;
  }
  return { description: root, stop };
}

/** Copies the prepared data into an empty directory. Outside a test run there is none, and the stack makes its own. */
export async function copyPreparedData(directory: string): Promise<void> {
  if (!process.env[TEST_SERVERS_VARIABLE]) return;
  const prepared = await askForServer<string>('data');
  // With owners and modes: Postgres may run as another user, and refuses a data directory that others can read.
  await run('cp', ['-a', `${prepared}/.`, directory]);
}
