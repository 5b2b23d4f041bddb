import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@phds/test-kit/databases';
import { openClient } from '@phds/test-kit/open-client';
import { shared } from '@phds/test-kit/shared';
import type pg from 'pg';
import { repositoryRoot } from '../src/data-directory.ts';

const [schema, column] = ['health_data', 'user_id'];
const script = await readFile(join(repositoryRoot, 'deploy/citus/health_data.sql'), 'utf8');
/** The tables that the script distributes; the first decides on the number of shards. */
const distributed = [...script.matchAll(/(?<=create_distributed_table\(|^ {4})'(health_data\.\w+)'/gm)].map(
  ([, table]) => table,
);

async function open(service: string): Promise<pg.Client> {
  const { adminUrl } = shared.use(await createTestDatabase(service));
  return shared.use(await openClient(adminUrl));
}

async function list(client: pg.Client, query: string, ...values: unknown[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(query, values);
  return rows.map(({ name }) => name).sort();
}

const TABLES = `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`;

const OWN = `WITH own AS (
  SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname <> '_prisma_migrations'
)`;

/** Keys, exclusion constraints and foreign keys that Citus could not check on one server, because they lack the column. */
const UNCHECKED = `${OWN}, column_number AS (SELECT attrelid, attnum FROM pg_attribute WHERE attname = $2)
  SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN own ON own.oid = i.indrelid
  WHERE (i.indisunique OR i.indisexclusion) AND NOT EXISTS (
    SELECT FROM column_number WHERE attrelid = i.indrelid AND attnum = ANY(i.indkey[0:i.indnkeyatts - 1]))
  UNION ALL
  SELECT f.conname FROM pg_constraint f JOIN own ON own.oid = f.conrelid
  WHERE f.contype = 'f' AND NOT EXISTS (
    SELECT FROM unnest(f.conkey, f.confkey) AS pair(from_number, to_number)
    JOIN column_number here ON here.attrelid = f.conrelid AND here.attnum = from_number
    JOIN column_number there ON there.attrelid = f.confrelid AND there.attnum = to_number
    WHERE f.confrelid IN (SELECT oid FROM own))`;

/** Triggers, rules, policies, inherited and partitioned tables, sequences and functions: what Citus treats apart. */
const PECULIARITIES = `${OWN}
  SELECT 'trigger ' || tgname AS name FROM pg_trigger JOIN own ON own.oid = tgrelid WHERE NOT tgisinternal
  UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite JOIN own ON own.oid = ev_class
  UNION ALL SELECT 'policy ' || polname FROM pg_policy JOIN own ON own.oid = polrelid
  UNION ALL SELECT 'inheritance of ' || relname FROM pg_inherits JOIN own ON own.oid IN (inhrelid, inhparent)
  UNION ALL SELECT 'sequence ' || relname FROM own WHERE relkind = 'S'
  UNION ALL SELECT 'function ' || proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE n.nspname = $1`;

/** The column of each table; its name says what differs from a column that rows can be distributed by. */
const COLUMNS = `${OWN}
  SELECT own.relname || CASE WHEN format_type(atttypid, atttypmod) = 'text' AND attnotnull AND attgenerated = '' AND attidentity = ''
    AND NOT atthasdef AND attcollation = 'pg_catalog."C"'::regcollation THEN '' ELSE ' differs' END AS name
  FROM own JOIN pg_attribute ON attrelid = own.oid AND attname = $2 WHERE relkind = 'r'`;

const client = await open('health-data');

test('deploy/citus/health_data.sql distributes every table of health-data once, by user, in shards of one number', async () => {
  expect(distributed.sort()).toEqual(await list(client, TABLES, schema));
  for (const call of [
    `create_distributed_table('health_data.profile', '${column}', colocate_with => 'none', shard_count => 128)`,
    `create_distributed_table(name::regclass, '${column}', colocate_with => 'health_data.profile')`,
  ])
    expect(script).toContain(call);
});

test('every key and foreign key of a distributed table holds the user', async () => {
  expect(await list(client, UNCHECKED, schema, column)).toEqual([]);
});

test('the user is in all distributed tables, of one type and collation, required, and never computed', async () => {
  expect(await list(client, COLUMNS, schema, column)).toEqual(
    distributed.map((table = '') => table.slice(`${schema}.`.length)).sort(),
  );
});

test('the distributed schema has no triggers, sequences, functions or partitions, which would need a treatment of their own', async () => {
  expect(await list(client, PECULIARITIES, schema)).toEqual([]);
});

test('the check notices a key without the user, and a foreign key that does not hold the user on both sides', async () => {
  await client.query(`
    BEGIN;
    CREATE TABLE health_data.planted (user_id text COLLATE "C" NOT NULL, id uuid, PRIMARY KEY (user_id, id), UNIQUE (id));
    ALTER TABLE health_data.planted ADD CONSTRAINT other_user FOREIGN KEY (user_id, id) REFERENCES health_data.planted (user_id, id);
    ALTER TABLE health_data.planted ADD CONSTRAINT no_user FOREIGN KEY (id) REFERENCES health_data.planted (id)`);
  try {
    expect(await list(client, UNCHECKED, schema, column)).toEqual(['health_data.planted_id_key', 'no_user']);
  } finally {
    await client.query('ROLLBACK');
  }
});
