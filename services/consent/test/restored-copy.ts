import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';

/** Copies a database as a dump restored into an empty one would: the same rows in new tables. */
export async function restoreCopy(source: pg.Pool): Promise<TestDatabase> {
  const copy = await createTestDatabase('consent');
  const target = new pg.Client({
    connectionString: copy.ownerUrl,
    options: '-c search_path=consent -c timezone=UTC',
  });
  await target.connect();
  try {
    for (const table of await listTables(source)) {
      await removeRowsOfMigrations(target, table);
      const { rows } = await source.query(`SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} t`);
      await target.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(null::${table}, $1)`, [
        rows[0].rows,
      ]);
    }
  } finally {
    await target.end();
  }
  return copy;
}

/** Migrations insert rows into a few tables, of which none is append-only. A statement on an append-only table would be refused. */
async function removeRowsOfMigrations(target: pg.Client, table: string): Promise<void> {
  const { rowCount } = await target.query(`SELECT FROM ${table} LIMIT 1`);
  if (rowCount !== 0) await target.query(`DELETE FROM ${table}`);
}

/** Referenced tables first. */
async function listTables(source: pg.Pool): Promise<string[]> {
  const { rows } = await source.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE c.relnamespace IN ('consent'::regnamespace, 'consent_audit'::regnamespace) AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition AND c.relname <> '_prisma_migrations'
     ORDER BY EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f'), c.oid`,
  );
  return rows.map(({ name }) => name);
}
