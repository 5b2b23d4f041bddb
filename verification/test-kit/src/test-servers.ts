import { startThrowawayPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { findFreePort } from '@phds/local-stack/servers/free-port';
import { dockerAnswers, findRedisProgram, startRedisServer } from '@phds/local-stack/servers/redis-server';
import { ADMIN_URL_VARIABLE, REDIS_VARIABLE, type RedisSource } from './test-server-variables.ts';

export interface TestServers extends AsyncDisposable {
  /** Environment variables for the tests. */
  readonly environment: Readonly<Record<string, string>>;
}

type Notice = (text: string) => void;

/**
 * Starts the servers that a test run shares. Postgres: TEST_DATABASE_URL (an administrator on a server used only for tests), else an
 * embedded server.
 */
export async function startTestServers(notice: Notice): Promise<TestServers> {
  const given = process.env['TEST_DATABASE_URL'];
  const postgres = given ? { adminUrl: given, stop: async () => undefined } : await startThrowawayPostgres();
  const redis = await findRedisSource(notice);
  return {
    environment: { [ADMIN_URL_VARIABLE]: postgres.adminUrl, [REDIS_VARIABLE]: redis },
    [Symbol.asyncDispose]: () => postgres.stop(),
  };
}

async function findRedisSource(notice: Notice): Promise<RedisSource> {
  if (process.env['TEST_REDIS_URL']) return 'given';
  if ((await findRedisProgram()) !== null) return 'program';
  if (await dockerAnswers()) return 'docker';
  // Installs Redis if possible and reports when it is missing.
  const server = await startRedisServer({ port: await findFreePort(), notice });
  await server?.stop();
  return server === null ? 'none' : 'program';
}
