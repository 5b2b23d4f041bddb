import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import type { EmbeddedPostgres } from './embedded-postgres.ts';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from './embedded-postgres.ts';

/** Starts a server in a temporary directory; its data is removed when it stops. */
export async function startThrowawayPostgres(): Promise<EmbeddedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-postgres-'));
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'data'),
    port: 0,
    settings: THROWAWAY_SETTINGS,
  });
  const stop = async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { ...server, stop, [Symbol.asyncDispose]: stop };
}

/** Runs `use` with an empty database that has a service's roles and schema, and drops the database afterwards. */
export async function withScratchDatabase<T>(
  service: string,
  use: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  await using server = await startThrowawayPostgres();
  const passwords = { owner: 'scratch-owner', runtime: 'scratch-runtime' };
  return await use(await ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords }));
}
