import { describe, expect, test } from '@jest/globals';
import { findViolations } from '../bin/migration-rules.ts';

const listFound = async (sql: string) => (await findViolations(sql)).map(({ what }) => what);

describe('a migration that takes something from the earlier release is refused', () => {
  test.each([
    ['ALTER TABLE app DROP COLUMN name', 'drops the column app.name'],
    ['ALTER TABLE app RENAME COLUMN name TO title', 'renames what the earlier release uses'],
    ['ALTER TABLE app SET SCHEMA other', 'moves what the earlier release uses to another schema'],
    ['DROP TABLE app', 'drops a table'],
    ["ALTER TYPE status RENAME VALUE 'on' TO 'active'", 'renames a value of an enum'],
    ['DROP INDEX app_name_key', 'drops an index: ON CONFLICT of the earlier release may name it'],
    [
      'ALTER TABLE app DROP CONSTRAINT app_key, ADD CONSTRAINT app_key UNIQUE USING INDEX app_name_key',
      'drops the constraint app_key of app: ON CONFLICT of the earlier release may name it',
    ],
    ['ALTER TABLE app ENABLE ROW LEVEL SECURITY', 'hides the rows of app that no policy shows'],
    ['CREATE POLICY own ON app AS RESTRICTIVE USING (owner = current_user)', 'hides rows of app by a policy'],
    ['DROP TRIGGER count_app ON app', 'drops a trigger'],
    ...[
      ['DETACH PARTITION app_old', 'AT_DetachPartition'],
      ['SET (security_invoker)', 'AT_SetRelOptions'],
    ].map(([change, subtype]) => [
      `ALTER TABLE app ${change}`,
      `changes app in a way that this check does not know (${subtype})`,
    ]),
    ['TRUNCATE app', 'empties a table'],
    ['ALTER TABLE app ALTER COLUMN id TYPE bigint', 'changes the type of app.id'],
    ['ALTER TABLE app ALTER COLUMN id SET NOT NULL', 'makes app.id NOT NULL'],
    ['ALTER TABLE app ALTER COLUMN id DROP DEFAULT', 'drops the default of app.id'],
    ['ALTER TABLE app ADD CONSTRAINT k NOT NULL id', 'makes a column of app NOT NULL'],
    [
      'ALTER TABLE app ADD COLUMN size int NOT NULL',
      'adds app.size, which is NOT NULL without a default: the earlier release inserts none',
    ],
    ['REVOKE INSERT ON app FROM phds_consent', 'takes a right away'],
    [
      "DO $$ BEGIN EXECUTE 'ALTER TABLE app DROP COLUMN name'; END $$",
      'changes tables in a DO block (EXECUTE), which this check cannot read',
    ],
    [
      'DO $$ BEGIN DROP TABLE app; END $$',
      'changes tables in a DO block (DROP), which this check cannot read',
    ],
  ])('%s', async (statement, what) => {
    expect(await listFound(`${statement};`)).toEqual([what]);
    expect(await listFound(`-- contract: no release uses it\n${statement};`)).toEqual([what]);
    expect(await listFound(`-- locks: the table is small\n${statement};`)).toEqual([what]);
    expect(await listFound(`-- contract: nothing uses it since 0.4.0\n${statement};`)).toEqual([]);
  });
});

describe('a migration that holds a lock while it reads or writes many rows is refused', () => {
  test.each([
    ['CREATE INDEX app_name_idx ON app (name)', /^builds app_name_idx while writes to app wait/],
    ['ALTER TABLE app ADD UNIQUE (name)', 'builds the index of the constraint while app is locked'],
    [
      'ALTER TABLE app ADD CONSTRAINT k CHECK (size > 0)',
      /^reads all rows of app for the constraint k; add it/,
    ],
    [
      'ALTER TABLE app ADD FOREIGN KEY (id) REFERENCES other',
      /^reads all rows of app for the constraint; add/,
    ],
    ['ALTER TABLE app ADD COLUMN size int CHECK (size > 0)', 'reads or writes all rows of app for app.size'],
    [
      'ALTER TABLE app ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid()',
      'may write all rows of app, because the default of app.id is no constant',
    ],
    ['ALTER TABLE app ADD COLUMN name text UNIQUE', 'builds the index of app.name while app is locked'],
    ['ALTER TABLE app SET UNLOGGED', 'rewrites app'],
    ['ALTER TABLE app ATTACH PARTITION app_new FOR VALUES IN (1)', /^locks and may read app_new and the/],
    [
      'CREATE TABLE app_new PARTITION OF app FOR VALUES IN (1)',
      /^locks and may read app_new and the default/,
    ],
    ['UPDATE app SET size = 1', 'changes rows of app in one transaction'],
    [
      'MERGE INTO app USING other ON app.id = other.id WHEN MATCHED THEN DELETE',
      'changes rows of app in one transaction',
    ],
    ...[
      'WITH x AS (DELETE FROM app RETURNING id) SELECT id FROM x',
      'CREATE TABLE fresh AS WITH x AS (SELECT 1), y AS (DELETE FROM app RETURNING id) SELECT id FROM y',
    ].map((statement) => [statement, 'changes rows of app in one transaction'] as const),
    ['LOCK TABLE app', 'locks a table'],
  ])('%s', async (statement, what) => {
    const expected = [typeof what === 'string' ? what : expect.stringMatching(what)];
    expect(await listFound(`${statement};`)).toEqual(expected);
    expect(await listFound(`-- contract: nothing uses it since 0.4.0\n${statement};`)).toEqual(expected);
    expect(await listFound(`-- locks: app has a row for each app\n${statement};`)).toEqual([]);
  });
});

test.each([
  ["SET LOCAL lock_timeout = '1h'", /^sets lock_timeout/],
  ["SELECT set_config('lock_timeout', '0', true)", /^sets lock_timeout/],
  ['CREATE INDEX CONCURRENTLY app_name_idx ON app (name)', /^uses CONCURRENTLY without IF \[NOT\] EXISTS/],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON app (name); SELECT 1', /^uses CONCURRENTLY beside other/],
  ['COMMIT', /^ends or begins a transaction/],
])('no comment allows %s', async (statement, what) => {
  const sql = `-- contract: nothing uses it since 0.4.0\n-- locks: it is small\n${statement};`;
  expect(await listFound(sql)).toEqual([expect.stringMatching(what)]);
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
  expect(await listFound('CREATE TABLE other.app (id int); ALTER TABLE app DROP COLUMN id;')).toEqual([
    'drops the column app.id',
  ]);
  const attach = 'ALTER TABLE fresh ATTACH PARTITION app FOR VALUES IN (1);';
  expect(await listFound(`CREATE TABLE fresh (id int) PARTITION BY LIST (id); ${attach}`)).toEqual([
    expect.stringMatching(/^locks and may read app and the default partition of fresh/),
  ]);
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
    { line: 6, what: 'drops the column app.b', marker: 'contract' },
  ]);
});
