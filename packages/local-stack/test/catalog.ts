import type pg from 'pg';

/** A rule about the rows of a table that Postgres enforces, with the columns that it compares. */
export interface Constraint {
  readonly table: string;
  readonly name: string;
  readonly kind: 'key' | 'exclusion' | 'foreign key';
  readonly columns: readonly string[];
  /** For a foreign key: the other table and its columns, in the order of `columns`. */
  readonly target: string | null;
  readonly targetColumns: readonly string[] | null;
}

/** The tables of the schemas, without partitions and the history of migrations. */
export async function listTables(client: pg.Client, schemas: readonly string[]): Promise<string[]> {
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
export async function listConstraints(client: pg.Client, schemas: readonly string[]): Promise<Constraint[]> {
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
export interface Column {
  readonly table: string;
  readonly type: string;
  readonly collation: string;
  readonly isRequired: boolean;
  /** Whether the database or an expression sets it. */
  readonly isComputed: boolean;
}

export async function listColumns(client: pg.Client, schema: string, column: string): Promise<Column[]> {
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
export async function listPeculiarities(client: pg.Client, schema: string): Promise<string[]> {
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
