import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureReader, ensureServiceDatabase, type ServiceDatabase } from '@phds/dev-stack/database-roles';
import type { EmbeddedPostgres } from '@phds/dev-stack/embedded-postgres';
import { startThrowawayPostgres } from '@phds/dev-stack/scratch-database';
import pg from 'pg';

const passwords = { owner: "owner's", runtime: 'run/time' };
let server: EmbeddedPostgres;
let consent: ServiceDatabase;
let authorization: ServiceDatabase;

beforeAll(async () => {
  server = await startThrowawayPostgres();
  const ensure = (service: string) =>
    ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords });
  // Twice and at once: what exists already is left as it is.
  [consent, authorization] = await Promise.all([ensure('consent'), ensure('authorization')]);
  await Promise.all([ensure('consent'), ensure('authorization')]);
  await query(consent.ownerUrl, 'CREATE TABLE item (id int)');
  await query(authorization.ownerUrl, 'CREATE TABLE item (id int)');
});

afterAll(() => server.stop());

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('a runtime role reads and writes the tables of its own schema', async () => {
  await query(
    consent.url,
    'INSERT INTO item VALUES (1); UPDATE item SET id = 2; DELETE FROM item WHERE id = 3',
  );
  expect(await query(consent.url, 'SELECT id FROM item')).toEqual([{ id: 2 }]);
  expect(await query(authorization.url, 'SELECT id FROM item')).toEqual([]);
});

test('neither role of a service sees the schema of another', async () => {
  for (const url of [consent.url, consent.ownerUrl]) {
    await expect(query(url, 'SELECT * FROM "authorization".item')).rejects.toThrow(
      /permission denied for schema/,
    );
  }
});

test('a reader role reads what is there and what comes later, of its service alone, and changes nothing', async () => {
  const options = { adminUrl: server.adminUrl, service: 'consent', password: 'read@only' };
  const reader = await ensureReader(options);
  await query(consent.ownerUrl, 'CREATE TABLE later (id int); CREATE TABLE consent_audit.later (id int)');
  for (const table of ['consent.item', 'consent.later', 'consent_audit.later']) {
    await expect(query(reader, `SELECT id FROM ${table}`)).resolves.toBeDefined();
    await expect(query(reader, `DELETE FROM ${table}`)).rejects.toThrow(/permission denied for table/);
  }
  await expect(query(reader, 'SELECT id FROM "authorization".item')).rejects.toThrow(
    /permission denied for schema/,
  );
  // Again, as every start of the containers does.
  expect(await ensureReader(options)).toBe(reader);
});

test.each([
  'CREATE TABLE more ()',
  'DROP TABLE item',
  'TRUNCATE item',
  'CREATE SCHEMA more',
  'CREATE ROLE more',
])('a runtime role may not: %s', async (sql) => {
  await expect(query(consent.url, sql)).rejects.toThrow(/permission denied|must be owner/);
});

test('neither role can use the public schema', async () => {
  for (const url of [consent.url, consent.ownerUrl]) {
    await expect(query(url, 'CREATE TABLE public.more ()')).rejects.toThrow(/permission denied/);
  }
});
