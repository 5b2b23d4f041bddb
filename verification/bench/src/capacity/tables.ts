import type pg from 'pg';
import type { RowBytes } from './costs.ts';

const SIZES = `
  SELECT n.nspname || '.' || c.relname AS name,
    coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(c.oid) WHERE c.relkind = 'p'),
      pg_total_relation_size(c.oid))::float8 AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`;

/** Rows and bytes of all tables of the schemas, with indexes and partitions. */
export async function readTables(
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Record<string, RowBytes>> {
  const { rows } = await client.query<{ name: string; bytes: number }>(SIZES, [schemas]);
  const tables: Record<string, RowBytes> = {};
  for (const { name, bytes } of rows) {
    const table = name
      .split('.')
      .map((part) => client.escapeIdentifier(part))
      .join('.');
    const { rows: counted } = await client.query(`SELECT count(*)::int AS n FROM ${table}`);
    tables[name] = { rows: counted[0].n, bytes };
  }
  return tables;
}

/** What was added: rows, and bytes for each. Tables without new rows are left out. */
export function toGrowth(
  before: Readonly<Record<string, RowBytes>>,
  after: Readonly<Record<string, RowBytes>>,
): Record<string, RowBytes> {
  const grown = Object.entries(after).flatMap(([name, { rows, bytes }]) => {
    const added = rows - (before[name]?.rows ?? 0);
    if (added <= 0) return [];
    return [[name, { rows: added, bytes: (bytes - (before[name]?.bytes ?? 0)) / added }] as const];
  });
  return Object.fromEntries(grown);
}
