import type { Postgres } from '@phds/service-kit/postgres';

const connect = (pool: Postgres['pool']) => pool.connect();

type Client = Awaited<ReturnType<typeof connect>>;

/** One state of the database for everything that is read through it, whatever is written meanwhile. */
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

  /** Rows of a query in pages; the next is on its way while one is worked on. */
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
      // Its failure is told where it is awaited; nobody may be left to await it.
      next.catch(() => undefined);
      yield rows;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The connection is not used again: it ends, and the transaction with it.
    this.#client.release(true);
  }
}
