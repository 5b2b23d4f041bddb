import pg from 'pg';

/** A prepared statement as a store passes it to the pool. */
export interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How Postgres runs a statement. */
export interface Plan {
  /** Tables that are scanned sequentially. */
  readonly walked: readonly string[];
  readonly indexes: readonly string[];
  /**
   * Rows visited by scans of tables and indexes, returned or not; 0 if the statement was only planned. A repeated scan counts with
   * its rounded average, so one that rarely finds a row counts as 0.
   */
  readonly touched: number;
}

const CONTROL = /^(BEGIN|COMMIT|ROLLBACK|SET)\b/;

/** The statements, with values, that `run` sends to the database by any path, without those that control transactions. */
export async function capture(run: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [config, values = []] = args as [string | pg.QueryConfig, unknown[]?];
    const statement = typeof config === 'string' ? { text: config } : config;
    if (!CONTROL.test(statement.text)) asked.push({ values, ...statement });
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await run();
  } finally {
    pg.Client.prototype.query = query;
  }
  return asked;
}

/** The generic plan of the prepared statement, with the rows touched by one call. */
export async function explain(pool: pg.Pool, { text, values }: Asked, run: boolean): Promise<Plan> {
  const client = await pool.connect();
  try {
    await client.query(`PREPARE explained AS ${text}`);
    const given =
      values.length === 0 ? '' : `(${values.map((value) => toLiteral(client, value)).join(', ')})`;
    const { rows } = await client.query(`EXPLAIN (ANALYZE ${run}, FORMAT JSON) EXECUTE explained${given}`);
    await client.query('DEALLOCATE explained');
    return toPlan(rows[0]['QUERY PLAN'][0].Plan);
  } finally {
    client.release();
  }
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Node[];
}

function toPlan(root: Node): Plan {
  const scans = listNodes(root).filter(
    (node) => node['Relation Name'] !== undefined || node['Index Name'] !== undefined,
  );
  return {
    walked: scans.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : [])),
    indexes: [...new Set(scans.flatMap((node) => node['Index Name'] ?? []))].sort(),
    touched: scans.reduce((sum, node) => sum + countRows(node), 0),
  };
}

function listNodes(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

function countRows(node: Node): number {
  const rows =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  return rows * (node['Actual Loops'] ?? 0);
}

function toLiteral(client: pg.PoolClient, value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return client.escapeLiteral(Array.isArray(value) ? `{${value.map(toElement).join(',')}}` : toText(value));
}

function toElement(value: unknown): string {
  return value === null ? 'NULL' : JSON.stringify(toText(value));
}

function toText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
