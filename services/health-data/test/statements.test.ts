import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/statement';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { explainGeneric, listIndexes, listNamedIndexes, readSqlFiles } from '@phds/test-kit/sql-files';
import type pg from 'pg';
import { POOL_SETTINGS } from '../src/store/database.ts';
import { toUpsert } from '../src/store/pg-health-records.ts';

const FILES = readSqlFiles(new URL('../src/store/sql/', import.meta.url), readStatement);

let database: TestDatabase;
let postgres: Postgres;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await createTestDatabase('health-data');
  postgres = openPostgres({
    connectionString: database.url,
    schema: database.schema,
    poolSize: 1,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 20_000,
    applicationName: 'statements',
    settings: POOL_SETTINGS,
  });
  client = await postgres.pool.connect();
});
afterAll(async () => {
  client.release();
  await postgres[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test.each(FILES)(
  '%s can be explained as it stands, by the indexes that its comment names',
  async (_, text) => {
    expect(listNamedIndexes(text)).not.toEqual([]);
    expect(listIndexes(await explainGeneric(client, text))).toEqual(listNamedIndexes(text));
  },
);

test('records of every kind are written by one statement, of which table and columns differ', () => {
  expect(toUpsert('mood_entry', ['mood', 'note', 'occurred_at'])).toBe(`
    WITH
    written AS (
      INSERT INTO mood_entry (user_id, id, source, mood, note, occurred_at)
      SELECT $2, id, source, mood, note, occurred_at
      FROM jsonb_populate_recordset(NULL::mood_entry, $1::jsonb)
      ON CONFLICT (user_id, id) DO UPDATE
        SET (mood, note, occurred_at) = ROW (excluded.mood, excluded.note, excluded.occurred_at)
        WHERE (mood_entry.mood, mood_entry.note, mood_entry.occurred_at)
          IS DISTINCT FROM (excluded.mood, excluded.note, excluded.occurred_at)
      RETURNING xmax = 0 AS inserted
    )
    SELECT count(*) FILTER (WHERE inserted)::int AS inserted, count(*) FILTER (WHERE NOT inserted)::int AS updated
    FROM written`);
});
