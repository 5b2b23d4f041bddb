import type pg from 'pg';

/** Creates the partitions of a past month (`2024_02`), as if the service had run then. */
export async function makeMonth(owner: pg.Pool, month: string): Promise<void> {
  const start = `${month.replace('_', '-')}-01 00:00:00Z`;
  const { rows } = await owner.query(`SELECT ($1::timestamptz + interval '1 month')::text AS end`, [start]);
  const { end } = rows[0];
  await owner.query(
    `CREATE TABLE access_batch_${month} PARTITION OF access_batch FOR VALUES FROM ('${start}') TO ('${end}')`,
  );
  const ids = await owner.query(
    'SELECT first_id_of($1::timestamptz) AS a, first_id_of($2::timestamptz) AS b',
    [start, end],
  );
  await owner.query(
    `CREATE TABLE access_record_${month} PARTITION OF access_record FOR VALUES FROM ('${ids.rows[0].a}') TO ('${ids.rows[0].b}')`,
  );
  for (const table of ['access_batch', 'access_record']) {
    await owner.query(`SELECT make_append_only('${table}_${month}', '')`);
  }
}

/** Names of the partitions of a table, without the default partition. */
export async function partitionsOf(owner: pg.Pool, table: string): Promise<string[]> {
  const { rows } = await owner.query(
    `SELECT replace(inhrelid::regclass::text, $1 || '_', '') AS name FROM pg_inherits WHERE inhparent = $1::regclass`,
    [table],
  );
  return rows.map((row) => row.name).sort();
}

/** The month (`2026_03`) this many months from now. */
export async function monthAway(owner: pg.Pool, months: number): Promise<string> {
  const { rows } = await owner.query(
    `SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => $1), 'YYYY_MM') AS month`,
    [months],
  );
  return rows[0].month;
}
