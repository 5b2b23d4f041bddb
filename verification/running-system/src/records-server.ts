import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  THROWAWAY_SETTINGS,
} from '@phds/local-stack/servers/embedded-postgres';
import { ensureServiceDatabase, type ServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';

/** A second Postgres server with an empty database of the access records. */
export interface RecordsServer extends AsyncDisposable {
  readonly database: ServiceDatabase;
  readonly directory: string;
  /** Starts it again after it was killed. */
  restart(): Promise<void>;
}

export async function startRecordsServer(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RecordsServer> {
  const start = (port: number) => startEmbeddedPostgres({ directory, port, settings });
  let server: EmbeddedPostgres = await start(0);
  const [owner, runtime] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  const database = await ensureServiceDatabase({
    adminUrl: server.adminUrl,
    service: 'consent',
    passwords: { owner, runtime },
  });
  const migrations = join(repositoryRoot, 'services/consent/prisma/migrations');
  await applyMigrations({ connectionString: database.ownerUrl, schema: 'consent', directory: migrations });
  return {
    database,
    directory,
    async restart() {
      server = await start(server.port);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** The same in a temporary directory, which is removed in the end. */
export async function startThrowawayRecordsServer(): Promise<RecordsServer> {
  const root = await mkdtemp(join(tmpdir(), 'phds-records-'));
  const server = await startRecordsServer(join(root, 'data'), THROWAWAY_SETTINGS);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
