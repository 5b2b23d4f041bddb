import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import { type TlsFilesOnDisk, toTlsSettings, writeTlsFiles } from '@phds/test-kit/tls-servers';
import pg from 'pg';
import { createAuthority } from '../src/keys/authority.ts';
import { openPostgres } from '../src/postgres/postgres.ts';

describeWithCertificates('a connection string with sslmode=verify-full', () => {
  const authority = createAuthority();
  let files: TlsFilesOnDisk;
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    files = await writeTlsFiles(authority, authority.issue('DNS:localhost'));
    const settings = await toTlsSettings(files, 'all');
    server = await startEmbeddedPostgres({ directory: join(files.directory, 'data'), port: 0, settings });
  });
  afterAll(async () => {
    await server?.stop();
    await files?.[Symbol.asyncDispose]();
  });

  function toUrl(parameters: Record<string, string>): string {
    const url = new URL(server.adminUrl);
    url.hostname = 'localhost';
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  const verified = () => toUrl({ sslmode: 'verify-full', sslrootcert: files.ca });

  /** Opens the database as a service does, and asks whether the connection is encrypted. */
  async function isEncrypted(connectionString: string): Promise<boolean> {
    await using database = openPostgres({
      connectionString,
      schema: 'public',
      poolSize: 1,
      statementTimeoutMs: 60_000,
      connectTimeoutMs: 60_000,
      applicationName: 'tls',
    });
    const { rows } = await database.pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0].ssl;
  }

  test('encrypts the connection to a server with a certificate of the authority', async () => {
    expect(await isEncrypted(verified())).toBe(true);
  });

  test('refuses a server with a certificate of another authority', async () => {
    await using other = await writeTlsFiles(createAuthority(), authority.issue('DNS:localhost'));
    const url = toUrl({ sslmode: 'verify-full', sslrootcert: other.ca });
    await expect(isEncrypted(url)).rejects.toThrow(/certificate/);
  });

  test('is needed where the server demands TLS: a connection without TLS is refused', async () => {
    await expect(isEncrypted(toUrl({}))).rejects.toMatchObject({ code: '28000' });
  });

  test('follows a renewed certificate of the server without a restart, and refuses one of another host', async () => {
    const admin = new pg.Client({ connectionString: verified() });
    await admin.connect();
    const renew = async (name: string) => {
      await files.replace(authority.issue(name));
      await admin.query('SELECT pg_reload_conf()');
    };
    const outcome = () =>
      isEncrypted(verified()).then(
        () => 'accepted',
        ({ code }) => code,
      );
    await renew('DNS:database.example');
    await eventually(async () => (await outcome()) === 'ERR_TLS_CERT_ALTNAME_INVALID');
    await renew('DNS:localhost');
    await eventually(async () => (await outcome()) === 'accepted');
    await admin.end();
  });
});
