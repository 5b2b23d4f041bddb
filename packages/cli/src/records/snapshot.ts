import type { Postgres } from '@phds/service-kit/postgres/postgres';

const connect = (pool: Postgres['pool']) => pool.connect();

type Client = Awaited<ReturnType<typeof connect>>;

/** A consistent snapshot of the database for all reads through it, unaffected by concurrent writes. */
export class RecordsSnapshot implements AsyncDisposable {
  readonly #client: Client;
  #cursors = 0;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(pool: Postgres['pool']): Promise<RecordsSnapshot> {
    const client = await connect(pool);
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return new RecordsSnapshot(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, [...values])).rows;
  }

  /** The rows of a query in pages. The next page is fetched while one is processed. */
  async *pages<Row extends object>(
    sql: string,
    pageSize: number,
    values: readonly unknown[] = [],
  ): AsyncGenerator<Row[]> {
    this.#cursors += 1;
    const cursor = `cursor_${this.#cursors}`;
    await this.#client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, [...values]);
    const fetchPage = () => this.#client.query<Row>(`FETCH ${pageSize} FROM ${cursor}`);
    let next = fetchPage();
    for (;;) {
      const { rows } = await next;
      if (rows.length === 0) return;
      next = fetchPage();
      // The error is reported where the page is awaited, which may never happen.
      next.catch(() => undefined);
      yield rows;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Closing the connection also ends the transaction.
    this.#client.release(true);
  }
}
