import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { startThrowawayPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { GenericContainer, Wait } from 'testcontainers';
import { listenOnLoopback } from './loopback.ts';

/** A server that the test files of a run share. */
export interface TestServer<T> {
  /** How to reach it, as JSON. */
  readonly description: T;
  stop(): PromiseLike<void>;
}

/** An HTTP server that starts shared servers at the first request for their names. Disposal stops what it started. */
interface ServersOnDemand extends AsyncDisposable {
  readonly url: string;
}

export async function serveOnDemand(
  starters: Readonly<Record<string, () => Promise<TestServer<unknown>>>>,
): Promise<ServersOnDemand> {
  const started = new Map<string, Promise<TestServer<unknown>>>();
  const find = (name: string) => {
    const start = starters[name];
    if (start === undefined) throw new Error(`there is no shared ${name}`);
    const server = started.get(name) ?? start();
    started.set(name, server);
    return server;
  };
  const answers = createServer(async (request, response) => {
    try {
      const { description } = await find((request.url ?? '').slice(1));
      response.end(JSON.stringify(description));
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  // Idle connections stay open: a worker that is busy between two files could otherwise use one just when it is closed.
  answers.keepAliveTimeout = 0;
  const port = await listenOnLoopback(answers);
  // Open connections must not delay the end of the run.
  answers.unref();
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      answers.close();
      answers.closeAllConnections();
      const servers = await Promise.allSettled([...started.values()].toReversed());
      for (const server of servers) if (server.status === 'fulfilled') await server.value.stop();
    },
  };
}

type Notice = (text: string) => void;

/**
 * The Postgres of a test run; its description is the connection string of an administrator. TEST_DATABASE_URL (a server used only for
 * tests), else a container if Docker answers, else an embedded server.
 */
export async function startTestPostgres(notice: Notice): Promise<TestServer<string>> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { description: given, stop: async () => undefined };
  if (await dockerAnswers()) {
    try {
      return await startContainer();
    } catch (error) {
      notice(`No Postgres container (${(error as Error).message.split('\n')[0]}): using the embedded one.`);
    }
  }
  const { adminUrl, stop } = await startThrowawayPostgres();
  return { description: adminUrl, stop };
}

async function dockerAnswers(): Promise<boolean> {
  return promisify(execFile)('docker', ['info'], { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

async function startContainer(): Promise<TestServer<string>> {
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
    description: `postgresql://postgres:postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    stop: async () => void (await container.stop()),
  };
}
