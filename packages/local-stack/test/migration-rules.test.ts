import { describe, expect, test } from '@jest/globals';
import { findViolations } from '../bin/migration-rules.ts';

const listMarkers = async (sql: string) => (await findViolations(sql)).map(({ marker }) => marker);

const CONTRACT = '-- contract: nothing uses it since 0.4.0\n';
const LOCKS = '-- locks: app has a row for each app\n';

describe('a migration that takes something from the earlier release needs the release since which nothing uses it', () => {
  test.each([
    'ALTER TABLE app DROP COLUMN name',
    'ALTER TABLE app RENAME COLUMN name TO title',
    'ALTER TABLE app SET SCHEMA other',
    'DROP TABLE app',
    "ALTER TYPE status RENAME VALUE 'on' TO 'active'",
    'DROP INDEX app_name_key',
    'ALTER TABLE app DROP CONSTRAINT app_key, ADD CONSTRAINT app_key UNIQUE USING INDEX app_name_key',
    'ALTER TABLE app ENABLE ROW LEVEL SECURITY',
    'CREATE POLICY own ON app AS RESTRICTIVE USING (owner = current_user)',
    'DROP TRIGGER count_app ON app',
    'ALTER TABLE app DETACH PARTITION app_old',
    'ALTER TABLE app SET (security_invoker)',
    'TRUNCATE app',
    'ALTER TABLE app ALTER COLUMN id TYPE bigint',
    'ALTER TABLE app ALTER COLUMN id SET NOT NULL',
    'ALTER TABLE app ALTER COLUMN id DROP DEFAULT',
    'ALTER TABLE app ADD CONSTRAINT k NOT NULL id',
    'ALTER TABLE app ADD COLUMN size int NOT NULL',
    'REVOKE INSERT ON app FROM phds_consent',
    "DO $$ BEGIN EXECUTE 'ALTER TABLE app DROP COLUMN name'; END $$",
    'DO $$ BEGIN DROP TABLE app; END $$',
  ])('%s', async (statement) => {
    for (const comment of ['', '-- contract: no release uses it\n', LOCKS])
      expect(await listMarkers(`${comment}${statement};`)).toEqual(['contract']);
    expect(await listMarkers(`${CONTRACT}${statement};`)).toEqual([]);
  });
});

describe('a migration that holds a lock while it reads or writes many rows needs the reason why nobody waits', () => {
  test.each([
    'CREATE INDEX app_name_idx ON app (name)',
    'ALTER TABLE app ADD UNIQUE (name)',
    'ALTER TABLE app ADD CONSTRAINT k CHECK (size > 0)',
    'ALTER TABLE app ADD FOREIGN KEY (id) REFERENCES other',
    'ALTER TABLE app ADD COLUMN size int CHECK (size > 0)',
    'ALTER TABLE app ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid()',
    'ALTER TABLE app ADD COLUMN name text UNIQUE',
    'ALTER TABLE app SET UNLOGGED',
    'ALTER TABLE app ATTACH PARTITION app_new FOR VALUES IN (1)',
    'CREATE TABLE app_new PARTITION OF app FOR VALUES IN (1)',
    'UPDATE app SET size = 1',
    'MERGE INTO app USING other ON app.id = other.id WHEN MATCHED THEN DELETE',
    'WITH x AS (DELETE FROM app RETURNING id) SELECT id FROM x',
    'CREATE TABLE fresh AS WITH x AS (SELECT 1), y AS (DELETE FROM app RETURNING id) SELECT id FROM y',
    'LOCK TABLE app',
  ])('%s', async (statement) => {
    for (const comment of ['', CONTRACT])
      expect(await listMarkers(`${comment}${statement};`)).toEqual(['locks']);
    expect(await listMarkers(`${LOCKS}${statement};`)).toEqual([]);
  });
});

test.each([
  "SET LOCAL lock_timeout = '1h'",
  "SELECT set_config('lock_timeout', '0', true)",
  'CREATE INDEX CONCURRENTLY app_name_idx ON app (name)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON app (name); SELECT 1',
  'DROP INDEX CONCURRENTLY i',
  'COMMIT',
])('no comment allows %s', async (statement) => {
  expect(await listMarkers(`${CONTRACT}${LOCKS}${statement};`)).toEqual([null]);
});

test.each([
  'ALTER TABLE app ADD COLUMN size int',
  "ALTER TABLE app ADD COLUMN title text NOT NULL DEFAULT ''",
  'ALTER TABLE app ADD CONSTRAINT k CHECK (size > 0) NOT VALID',
  'ALTER TABLE app VALIDATE CONSTRAINT k',
  'ALTER TABLE app ALTER COLUMN size SET DEFAULT 1',
  'CREATE POLICY everyone ON app USING (true)',
  'CREATE TABLE fresh (id int) PARTITION BY LIST (id); CREATE TABLE one PARTITION OF fresh FOR VALUES IN (1)',
  'CREATE TABLE fresh (id text); ALTER TABLE fresh ENABLE ROW LEVEL SECURITY',
  'WITH x AS (SELECT 1 AS id) INSERT INTO app SELECT id FROM x',
  'CREATE FUNCTION g() RETURNS int BEGIN ATOMIC WITH x AS (DELETE FROM app RETURNING id) SELECT id FROM x; END',
  'CREATE TABLE fresh (id text NOT NULL); CREATE UNIQUE INDEX i ON fresh (id); ALTER TABLE fresh DROP COLUMN id',
  'CREATE TABLE fresh (id text); REVOKE DELETE ON fresh FROM phds_consent; UPDATE fresh SET id = 1',
  `DO $$ BEGIN IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('"i"') AND NOT indisvalid)
   THEN RAISE EXCEPTION 'i is not valid' USING HINT = 'DROP INDEX i'; END IF; END $$; CREATE INDEX IF NOT EXISTS "i" ON app (name)`,
])('a migration that only adds is accepted: %s', async (sql) => {
  expect(await findViolations(sql)).toEqual([]);
});

test('a table that the migration creates frees neither one of the same name elsewhere nor a partition that existed', async () => {
  const elsewhere = 'CREATE TABLE other.app (id int); ALTER TABLE app DROP COLUMN id;';
  expect(await listMarkers(elsewhere)).toEqual(['contract']);
  const attach = 'ALTER TABLE fresh ATTACH PARTITION app FOR VALUES IN (1);';
  const partitioned = 'CREATE TABLE fresh (id int) PARTITION BY LIST (id);';
  expect(await listMarkers(`${partitioned} ${attach}`)).toEqual(['locks']);
});

test('a comment allows the statement below it alone, and the line of the refused one is named', async () => {
  const sql = `-- Ändert nichts.
-- contract: nothing uses app.a since 0.4.0
ALTER TABLE app DROP COLUMN a;

-- Another column.
ALTER TABLE app
  DROP COLUMN b;
`;
  expect(await findViolations(sql)).toEqual([
    { line: 6, statement: 'ALTER TABLE app\n  DROP COLUMN b', marker: 'contract' },
  ]);
});
