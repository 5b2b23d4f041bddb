import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
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
