import pg from 'pg';

/**
 * Runs `use` on a new connection and closes it. If the connection, and with it any lock it holds, is lost before `use` ends, the
 * promise rejects after `use` has ended, even if `use` itself succeeded. Without an error handler, losing an idle connection would
 * end the process.
 */
export async function withConnection<T>(
  config: pg.ClientConfig & { readonly application_name: string },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(config);
  let loss: Error | undefined;
  client.on('error', (cause) => {
    const text = `the database connection ${config.application_name} was lost together with its lock; run the command again`;
    loss ??= new Error(text, { cause });
  });
  await client.connect();
  try {
    const result = await use(client);
    if (loss !== undefined) throw loss;
    return result;
  } catch (error) {
    throw loss ?? error;
  } finally {
    await client.end();
  }
}
