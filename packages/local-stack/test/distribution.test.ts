import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DISTRIBUTED, LOCAL, type LocalTable, SHARD_COUNT } from '@phds/service-kit/postgres/distribution';
import { createTestDatabase } from '@phds/test-kit/databases';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { repositoryRoot } from '../src/data-directory.ts';

/** A rule about the rows of a table that Postgres enforces, with the columns that it compares. */
interface Constraint {
  readonly table: string;
  readonly name: string;
  readonly kind: 'key' | 'exclusion' | 'foreign key';
  readonly columns: readonly string[];
  /** For a foreign key: the other table and its columns, in the order of `columns`. */
  readonly target: string | null;
  readonly targetColumns: readonly string[] | null;
}

/** The tables of the schemas, without partitions and the history of migrations. */
async function listTables(client: pg.Client, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'
     ORDER BY 1`,
    [schemas],
  );
  return rows.map(({ name }) => name);
}

/**
 * Unique indexes (which include primary keys and unique constraints), exclusion constraints and foreign keys. An expression in an index is
 * no column.
 */
async function listConstraints(client: pg.Client, schemas: readonly string[]): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `WITH own AS (
       SELECT c.oid, n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'
     )
     SELECT own.name AS table, i.indexrelid::regclass::text AS name,
       CASE WHEN i.indisexclusion THEN 'exclusion' ELSE 'key' END AS kind,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY k(number, place)
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) AS columns,
       NULL AS target, NULL::text[] AS "targetColumns"
     FROM pg_index i JOIN own ON own.oid = i.indrelid WHERE i.indisunique OR i.indisexclusion
     UNION ALL
     SELECT own.name, f.conname, 'foreign key',
       ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY k(number, place)
         JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number ORDER BY k.place),
       (SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = f.confrelid),
       ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY k(number, place)
         JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number ORDER BY k.place)
     FROM pg_constraint f JOIN own ON own.oid = f.conrelid WHERE f.contype = 'f'
     ORDER BY 1, 2`,
    [schemas],
  );
  return rows.map((row) => ({ ...row, name: row.name.replace(/^.*\./, '') }));
}

/** A column by which rows may be distributed. */
interface Column {
  readonly table: string;
  readonly type: string;
  readonly collation: string;
  readonly isRequired: boolean;
  /** Whether the database or an expression sets it. */
  readonly isComputed: boolean;
}

async function listColumns(client: pg.Client, schema: string, column: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT n.nspname || '.' || c.relname AS table, format_type(a.atttypid, a.atttypmod) AS type,
       coalesce((SELECT collname FROM pg_collation WHERE oid = a.attcollation AND collisdeterministic), 'none') AS collation,
       a.attnotnull AS "isRequired", a.atthasdef OR a.attgenerated <> '' OR a.attidentity <> '' AS "isComputed"
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = $2
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') ORDER BY 1`,
    [schema, column],
  );
  return rows;
}

/** Triggers, rules, policies, inherited and partitioned tables, functions and views: what Citus treats apart. */
async function listPeculiarities(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>(
    `WITH own AS (
       SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname <> '_prisma_migrations'
     )
     SELECT 'trigger ' || tgname || ' of ' || own.relname AS what FROM pg_trigger JOIN own ON own.oid = tgrelid WHERE NOT tgisinternal
     UNION ALL SELECT 'rule ' || rulename || ' of ' || own.relname FROM pg_rewrite JOIN own ON own.oid = ev_class
     UNION ALL SELECT 'policy ' || polname || ' of ' || own.relname FROM pg_policy JOIN own ON own.oid = polrelid
     UNION ALL SELECT 'inheritance of ' || own.relname FROM pg_inherits JOIN own ON own.oid IN (inhrelid, inhparent)
     UNION ALL SELECT 'sequence ' || own.relname FROM own WHERE relkind = 'S'
     UNION ALL SELECT 'function ' || proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE n.nspname = $1
     ORDER BY 1`,
    [schema],
  );
  return rows.map(({ what }) => what);
}

/** A call of `create_distributed_table` as the script made it. */
interface Distribution {
  readonly table: string;
  readonly column: string;
  readonly colocateWith: string;
  readonly shards: number | null;
}

/**
 * Creates `pg_dist_partition` and `create_distributed_table` with the signature that Citus gives it, in a schema of their own that is first in the
 * search path of this session. The function notes its arguments and refuses, with the messages of Citus, what Citus refuses: a table that
 * is distributed already, and one with triggers.
 */
async function installStandIn(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE SCHEMA citus_stand_in;
    CREATE TYPE citus_stand_in.distribution_type AS ENUM ('hash', 'range', 'append');
    CREATE TABLE citus_stand_in.pg_dist_partition (
      logicalrelid regclass PRIMARY KEY, called int GENERATED ALWAYS AS IDENTITY, given_column text NOT NULL,
      given_group text NOT NULL, given_shards int
    );
    CREATE FUNCTION citus_stand_in.create_distributed_table(
      table_name regclass, distribution_column text, distribution_type citus_stand_in.distribution_type DEFAULT 'hash',
      colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM citus_stand_in.pg_dist_partition WHERE logicalrelid = table_name) THEN
        RAISE EXCEPTION 'table "%" is already distributed', table_name;
      END IF;
      IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal) THEN
        RAISE EXCEPTION 'cannot distribute relation "%" because it has triggers', table_name;
      END IF;
      IF colocate_with NOT IN ('none', 'default') AND NOT EXISTS (
        SELECT FROM citus_stand_in.pg_dist_partition WHERE logicalrelid = colocate_with::regclass
      ) THEN
        RAISE EXCEPTION 'relation % is not distributed', colocate_with;
      END IF;
      INSERT INTO citus_stand_in.pg_dist_partition (logicalrelid, given_column, given_group, given_shards)
      VALUES (table_name, distribution_column, colocate_with, shard_count);
    END
    $$;
    SET search_path = citus_stand_in`);
}

/** The calls so far, in their order. */
async function listDistributions(client: pg.Client): Promise<Distribution[]> {
  const { rows } = await client.query<Distribution>(`
    SELECT logicalrelid::text AS table, given_column AS column, given_group AS "colocateWith", given_shards AS shards
    FROM citus_stand_in.pg_dist_partition ORDER BY called`);
  return rows;
}

const SCHEMAS = {
  'health-data': ['health_data'],
  consent: ['consent', 'consent_audit'],
  authorization: ['authorization'],
};
const { schema, column, tables } = DISTRIBUTED;
const distributed = tables.map((table) => `${schema}.${table}`);

const found: string[] = [];
const constraints: Constraint[] = [];
/** Of the database of health-data. */
let client!: pg.Client;
for (const [service, schemas] of Object.entries(SCHEMAS)) {
  const { adminUrl } = shared.use(await createTestDatabase(service));
  const admin = shared.adopt(new pg.Client({ connectionString: adminUrl }), (opened) => opened.end());
  await admin.connect();
  found.push(...(await listTables(admin, schemas)));
  constraints.push(...(await listConstraints(admin, schemas)));
  if (service === 'health-data') client = admin;
}

/** Constraints of the table that Citus could not check on one server if rows were distributed by this column. */
function inTheWay(
  table: string,
  by: string,
  isColocated: (target: string) => boolean,
  all: readonly Constraint[] = constraints,
): string[] {
  const isChecked = ({ kind, columns, target, targetColumns }: Constraint) => {
    const place = columns.indexOf(by);
    if (kind !== 'foreign key') return place !== -1;
    return target !== null && isColocated(target) && place !== -1 && targetColumns?.[place] === by;
  };
  return all
    .filter((one) => one.table === table && !isChecked(one))
    .map(({ name }) => name)
    .sort();
}

const localTables: [string, LocalTable][] = Object.entries(LOCAL).flatMap(([of, ones]) =>
  Object.entries(ones).map(([table, how]): [string, LocalTable] => [`${of}.${table}`, how]),
);

test('every table of the services is declared once: as distributed by user, or as staying on one server', () => {
  const declared = [...distributed, ...localTables.map(([table]) => table)].sort();
  expect(declared).toEqual([...found].sort());
});

describe('distributed tables', () => {
  test('each has a key, and every key and foreign key of a distributed table holds the user', () => {
    for (const table of distributed) {
      expect(constraints.filter((one) => one.table === table && one.kind === 'key')).not.toEqual([]);
      expect([table, inTheWay(table, column, (target) => distributed.includes(target))]).toEqual([table, []]);
    }
  });

  test('the user has the same type and collation in all of them, is required, and never computed', async () => {
    const columns = await listColumns(client, schema, column);
    const same = { type: 'text', collation: 'C', isRequired: true, isComputed: false };
    expect(columns).toEqual([...distributed].sort().map((table) => ({ table, ...same })));
  });

  test('their schema has no triggers, sequences, functions or partitions, which would need a treatment of their own', async () => {
    expect(await listPeculiarities(client, schema)).toEqual([]);
  });
});

test('the check notices a new table, a key without the user, and a foreign key that does not hold the user on both sides', async () => {
  await client.query(`
    BEGIN;
    CREATE TABLE health_data.planted (user_id text COLLATE "C" NOT NULL, id uuid, PRIMARY KEY (user_id, id), UNIQUE (id));
    ALTER TABLE health_data.planted ADD CONSTRAINT other_user FOREIGN KEY (user_id, id) REFERENCES health_data.planted (user_id, id);
    ALTER TABLE health_data.planted ADD CONSTRAINT no_user FOREIGN KEY (id) REFERENCES health_data.planted (id)`);
  try {
    expect(await listTables(client, [schema])).toContain('health_data.planted');
    const planted = await listConstraints(client, [schema]);
    const isColocated = (target: string) => target === 'health_data.planted';
    expect(inTheWay('health_data.planted', column, isColocated, planted)).toEqual([
      'no_user',
      'planted_id_key',
    ]);
  } finally {
    await client.query('ROLLBACK');
  }
});

test('a table that could be distributed later names exactly the constraints that lack its column', () => {
  const later = localTables.flatMap(([table, { later }]) =>
    later === undefined ? [] : [{ table, ...later }],
  );
  expect(later.length).toBeGreaterThan(0);
  const actual = later.map((one) => ({ ...one, inTheWay: inTheWay(one.table, one.column, () => false) }));
  expect(actual).toEqual(later);
});

describe('deploy/citus/health_data.sql', () => {
  const run = async () =>
    client.query(await readFile(join(repositoryRoot, 'deploy/citus/health_data.sql'), 'utf8'));

  test('distributes every declared table by user, in shards of one number, and only what is not distributed yet when it is repeated', async () => {
    await installStandIn(client);
    await run();
    const [first, ...others] = distributed;
    const calls = [
      { table: first, column, colocateWith: 'none', shards: SHARD_COUNT },
      ...others.map((table) => ({ table, column, colocateWith: first, shards: null })),
    ];
    expect(await listDistributions(client)).toEqual(calls);
    await client.query("DELETE FROM pg_dist_partition WHERE logicalrelid = 'health_data.import'::regclass");
    await run();
    expect(await listDistributions(client)).toHaveLength(calls.length);
  });
});
