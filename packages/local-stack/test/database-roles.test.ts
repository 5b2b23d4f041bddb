import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  closeDatabases,
  ensureServiceDatabase,
  type ServiceDatabase,
} from '@phds/service-kit/postgres/database-roles';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { openClient, queryOnce as query } from '@phds/test-kit/open-client';
import { shared } from '@phds/test-kit/shared';
import { repositoryRoot } from '../src/data-directory.ts';
import { startThrowawayPostgres } from '../src/servers/embedded-postgres.ts';

const passwords = { owner: "owner's", runtime: 'run/time' };
const server = await startThrowawayPostgres();
shared.defer(() => server.stop());
const ensure = (service: string) => ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords });
// Run twice and concurrently: existing objects are left unchanged.
const [consent, authorization] = await Promise.all([ensure('consent'), ensure('authorization')]);
await Promise.all([ensure('consent'), ensure('authorization')]);
await query(consent.ownerUrl, 'CREATE TABLE item (id int)');
await query(authorization.ownerUrl, 'CREATE TABLE item (id int)');

test('a reader role reads current and future tables of its service only, and changes nothing', async () => {
  const options = {
    adminUrl: server.adminUrl,
    service: 'consent',
    passwords: { ...passwords, reader: 'read@only' },
  };
  const { readerUrl } = await ensureServiceDatabase(options);
  const reader = readerUrl ?? '';
  await query(consent.ownerUrl, 'CREATE TABLE later (id int); CREATE TABLE consent_audit.later (id int)');
  for (const table of ['consent.item', 'consent.later', 'consent_audit.later']) {
    await expect(query(reader, `SELECT id FROM ${table}`)).resolves.toBeDefined();
    await expect(query(reader, `DELETE FROM ${table}`)).rejects.toThrow(/permission denied for table/);
  }
  await expect(query(reader, 'SELECT id FROM "authorization".item')).rejects.toThrow(
    /permission denied for schema/,
  );
  // Repeated, as at every start of the containers.
  expect((await ensureServiceDatabase(options)).readerUrl).toBe(reader);
});

test('deploy/roles.sql names missing parameters and changes nothing', async () => {
  const sql = await readFile(join(repositoryRoot, 'deploy/roles.sql'), 'utf8');
  await expect(query(server.adminUrl, `SET phds.schema = 'health_data'; ${sql}`)).rejects.toThrow(
    'phds.schema, phds.owner_password and phds.runtime_password must be set',
  );
  expect(
    await query(server.adminUrl, "SELECT 1 FROM pg_roles WHERE rolname LIKE 'phds_health_data%'"),
  ).toEqual([]);
});

test('the setup fails when another session ends the connection that holds the lock', async () => {
  await using holder = await openClient(toDatabaseUrl(server.adminUrl, { database: 'phds' }));
  // Blocks the grants in the database.
  await holder.query('BEGIN; REVOKE ALL ON DATABASE phds FROM PUBLIC');
  const ensured = expect(
    ensureServiceDatabase({ adminUrl: server.adminUrl, service: 'consent', passwords }),
  ).rejects.toThrow(/phds-database-roles was lost/);
  const select = (what: string, where: string) =>
    query(
      server.adminUrl,
      `SELECT ${what} FROM pg_stat_activity WHERE application_name = 'phds-database-roles' AND ${where}`,
    );
  const isHeldUp = async () => (await select('pid', `wait_event_type = 'Lock'`)).length === 1;
  while (!(await isHeldUp()));
  expect(await select('pg_terminate_backend(pid, 10000) AS gone', `state = 'idle'`)).toEqual([
    { gone: true },
  ]);
  await holder.query('ROLLBACK');
  await ensured;
});

describe('on a dedicated server', () => {
  const rolesOf = ({ url, ownerUrl, readerUrl }: ServiceDatabase) => [url, ownerUrl, readerUrl ?? url];
  let read: ServiceDatabase;
  let apart: ServiceDatabase;

  beforeAll(async () => {
    const at = { adminUrl: server.adminUrl, passwords };
    const withReader = { ...at, passwords: { ...passwords, reader: 'read@only' } };
    apart = await ensureServiceDatabase({ ...withReader, service: 'health-data', database: 'phds_health' });
    read = await ensureServiceDatabase({ ...withReader, service: 'consent' });
    await query(server.adminUrl, 'CREATE DATABASE elsewhere');
    // Run twice and concurrently, because every start does it.
    await Promise.all([closeDatabases(server.adminUrl), closeDatabases(server.adminUrl)]);
  });

  test.each(['postgres', 'template1', 'elsewhere', 'phds_health'])(
    'no service role connects to the other database %s',
    async (database) => {
      for (const url of [...rolesOf(read), ...rolesOf(authorization)]) {
        await expect(query(toDatabaseUrl(url, { database }), 'SELECT 1')).rejects.toThrow(
          /permission denied for database/,
        );
      }
    },
  );

  test('each service role connects to the database of its service, also where that has one of its own', async () => {
    for (const url of [...rolesOf(read), ...rolesOf(authorization), ...rolesOf(apart)]) {
      const { username, pathname } = new URL(url);
      expect(await query(url, 'SELECT current_user AS role, current_database() AS database')).toEqual([
        { role: username, database: pathname.slice(1) },
      ]);
    }
    expect(new URL(apart.url).pathname).toBe('/phds_health');
  });

  test('an administrator who does not own a database is warned that it stays open', async () => {
    await query(server.adminUrl, "CREATE ROLE manager LOGIN PASSWORD 'manager'");
    await query(server.adminUrl, 'CREATE DATABASE foreign_one');
    await query(server.adminUrl, 'CREATE DATABASE own_one OWNER manager');
    const connectionString = toDatabaseUrl(server.adminUrl, {
      database: 'own_one',
      user: 'manager',
      password: 'manager',
    });
    await using client = await openClient(connectionString);
    const warnings: (string | undefined)[] = [];
    client.on('notice', ({ message }) => void warnings.push(message));
    await client.query(await readFile(join(repositoryRoot, 'deploy/server.sql'), 'utf8'));
    expect(warnings).toEqual([
      'database foreign_one stays open to every role: only its owner postgres can close it',
    ]);
    await expect(
      query(toDatabaseUrl(authorization.url, { database: 'own_one' }), 'SELECT 1'),
    ).rejects.toThrow(/permission denied for database/);
  });
});
