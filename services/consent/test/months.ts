import type pg from 'pg';

/** Makes the partitions of a month of the past (`2024_02`), as if the service had run then. */
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
