import pg from 'pg';

/** Connects to a database until the disposal. When the server ends the connection, later statements fail. */
export async function openClient(connectionString: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Runs statements on a connection of their own. Returns the rows of a single one. */
export async function queryOnce(connectionString: string, sql: string): Promise<pg.QueryResultRow[]> {
  await using client = await openClient(connectionString);
  return (await client.query(sql)).rows;
}
