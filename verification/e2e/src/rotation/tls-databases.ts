import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareDatabases } from '@phds/local-stack/databases';
import { startEmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { createAuthority } from '@phds/service-kit/keys/authority';
import { DATABASE_SERVICES, ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { startTlsRedis, toTlsSettings, writeTlsFiles } from '@phds/test-kit/tls-servers';

const RUNTIME_ROLES = DATABASE_SERVICES.map((service) => `phds_${service.replace('-', '_')}`).join(',');

/** A Postgres that refuses the services without TLS, with their databases, and a Redis that only speaks TLS. */
export type TlsDatabases = Awaited<ReturnType<typeof startTlsDatabases>>;

export async function startTlsDatabases() {
  await using resources = new AsyncDisposableStack();
  const authority = createAuthority();
  const files = resources.use(await writeTlsFiles(authority, authority.issue('DNS:localhost')));
  const { directory } = files;
  const settings = await toTlsSettings(files, RUNTIME_ROLES);
  const server = resources.use(
    await startEmbeddedPostgres({ directory: join(directory, 'data'), port: 0, settings }),
  );
  const databases = await prepareDatabases(
    server.adminUrl,
    await ensureKeyFiles(await mkdtemp(join(directory, 'keys-'))),
  );
  const redis = resources.use(await startTlsRedis(files));
  const client = authority.issue('DNS:client');
  const running = resources.move();
  return {
    adminUrl: server.adminUrl,
    /** Connection string of a service's role, without TLS. */
    plainUrl: (service: keyof typeof databases) => databases[service].url,
    redis: { url: `rediss://localhost:${redis.port}`, tls: { ca: authority.ca, ...client } },
    /** Settings of a service. */
    settings: (service: string): Record<string, string> => ({
      REDIS_URL: `rediss://localhost:${redis.port}`,
      REDIS_TLS_CA: authority.ca,
      REDIS_TLS_CERT: client.cert,
      REDIS_TLS_KEY: client.key,
      ...(service in databases && {
        DATABASE_URL: toVerifyingUrl(databases[service as keyof typeof databases].url, files.ca),
      }),
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function toVerifyingUrl(plain: string, caFile: string): string {
  const url = new URL(plain);
  url.hostname = 'localhost';
  url.searchParams.set('sslmode', 'verify-full');
  url.searchParams.set('sslrootcert', caFile);
  return url.href;
}
