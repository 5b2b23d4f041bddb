import { startThrowawayPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { findFreePort } from '@phds/local-stack/servers/free-port';
import { dockerAnswers, findRedisProgram, startRedisServer } from '@phds/local-stack/servers/redis-server';
import { GenericContainer, Wait } from 'testcontainers';
import { ADMIN_URL_VARIABLE, REDIS_VARIABLE, type RedisSource } from './test-server-variables.ts';

export interface TestServers extends AsyncDisposable {
  /** Environment variables for the tests. */
  readonly environment: Readonly<Record<string, string>>;
}

type Notice = (text: string) => void;

/**
 * Starts the servers that a test run shares. Postgres: TEST_DATABASE_URL (an administrator on a server used only for tests), else a
 * container if Docker answers, else an embedded server.
 */
export async function startTestServers(notice: Notice): Promise<TestServers> {
  const docker = await dockerAnswers();
  const postgres = await startPostgres(docker, notice);
  const redis = await findRedisSource(docker, notice);
  return {
    environment: { [ADMIN_URL_VARIABLE]: postgres.adminUrl, [REDIS_VARIABLE]: redis },
    [Symbol.asyncDispose]: () => postgres.stop(),
  };
}

interface TestPostgres {
  readonly adminUrl: string;
  stop(): Promise<void>;
}

async function startPostgres(docker: boolean, notice: Notice): Promise<TestPostgres> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { adminUrl: given, stop: async () => undefined };
  if (docker) {
    try {
      return await startContainer();
    } catch (error) {
      notice(`No Postgres container (${(error as Error).message.split('\n')[0]}): using the embedded one.`);
    }
  }
  return startThrowawayPostgres();
}

async function startContainer(): Promise<TestPostgres> {
  const container = await new GenericContainer('postgres:17')
    .withEnvironment({ POSTGRES_PASSWORD: 'postgres' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
    .withExposedPorts(5432)
    // Over TCP, because the temporary server of the image's set-up listens on the socket only.
    .withHealthCheck({
      test: ['CMD-SHELL', 'pg_isready --host 127.0.0.1 --username postgres'],
      interval: 250,
      timeout: 2_000,
      retries: 120,
    })
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  return {
    adminUrl: `postgresql://postgres:postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    stop: async () => void (await container.stop()),
  };
}

async function findRedisSource(docker: boolean, notice: Notice): Promise<RedisSource> {
  if (process.env['TEST_REDIS_URL']) return 'given';
  if ((await findRedisProgram()) !== null) return 'program';
  if (docker) return 'docker';
  // Installs Redis if possible and reports when it is missing.
  const server = await startRedisServer({ port: await findFreePort(), notice });
  await server?.stop();
  return server === null ? 'none' : 'program';
}
