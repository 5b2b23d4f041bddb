import pg from 'pg';

/**
 * Runs `use` on a connection of its own and closes it. When the connection is lost meanwhile, with the locks that it held, the whole
 * fails and says so, even if `use` had nothing left to ask: unhandled, the loss of an idle connection would end the process. `use`
 * runs to its end before.
 */
export async function withConnection<T>(
  config: pg.ClientConfig & { readonly application_name: string },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(config);
  let loss: Error | undefined;
  client.on('error', (cause) => {
    const text = `the database connection ${config.application_name} was lost, and with it the lock that it held; run it again`;
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
