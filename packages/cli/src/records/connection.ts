import type { KeyObject } from 'node:crypto';
import { PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { parseCheckpointKeys } from '@phds/record-chain/checkpoint';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres/postgres';
import { ConfigError, connectionString, integer, readConfig } from '@phds/service-kit/settings/config';
import { z } from 'zod';
import { NotConfigured } from '../connection.ts';
import { explainCall, openOperator } from '../operator/connection.ts';

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

/** The settings of `phds records`. */
export const recordsSettings = z.object({
  RECORDS_DATABASE_URL: connectionString('must be set').describe(
    'Database of consent, with the role `phds_consent_reader`.',
  ),
  RECORDS_PUBLIC_KEYS: z
    .string('must be set')
    .meta({ unit: 'JWKS' })
    .describe("All of consent's receipt keys ever used."),
  RECORDS_STATEMENT_TIMEOUT_MS: integer(600_000, { unit: 'ms' }).describe(
    'Maximum duration of a statement; 0 is no limit.',
  ),
});

// No request waits for this command, so a busy database may take its time.
const CONNECT_TIMEOUT_MS = 30_000;

/** The access records at one point in time, with the keys to verify them. */
export interface RecordsConnection extends AsyncDisposable {
  readonly snapshot: RecordsSnapshot;
  readonly keys: readonly KeyObject[];
}

/** Opens the configured database for reading. */
export async function openRecords(env: NodeJS.ProcessEnv): Promise<RecordsConnection> {
  const config = readConfig(recordsSettings, env);
  const keys = parseKeys(config.RECORDS_PUBLIC_KEYS);
  await using resources = new AsyncDisposableStack();
  const { RECORDS_DATABASE_URL: url, RECORDS_STATEMENT_TIMEOUT_MS: timeoutMs } = config;
  const database = resources.use(openReader(url, timeoutMs));
  const snapshot = resources.use(await RecordsSnapshot.open(database.pool));
  const opened = resources.move();
  return { snapshot, keys, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function openReader(connectionString: string, statementTimeoutMs: number): Postgres {
  return openPostgres({
    connectionString,
    schema: 'consent',
    poolSize: 1,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs,
    applicationName: 'phds-records',
    // Makes Postgres read pages from the index instead of sorting everything first.
    settings: { default_transaction_read_only: 'on', cursor_tuple_fraction: 0.001 },
  });
}

function parseKeys(jwks: string): KeyObject[] {
  try {
    const keys = parseCheckpointKeys(jwks);
    if (keys.length > 0) return keys;
  } catch {
    // No JWKS at all gets the same message.
  }
  throw new ConfigError([{ setting: 'RECORDS_PUBLIC_KEYS', reason: 'must be a JWKS with Ed25519 keys' }]);
}

/**
 * Has consent record that the operator reads access records, before the database is opened. Empty ids stand for all. Throws NotConfigured when it
 * is not recorded.
 */
export async function announceRecordsRead(
  env: NodeJS.ProcessEnv,
  subject: { readonly userId: string; readonly clientId: string },
): Promise<void> {
  using operator = openOperator(env, ['consent'], '');
  try {
    await operator.client('consent', PersonOperatorService).announceRecordsRead(subject);
  } catch (error) {
    throw new NotConfigured(`The operators' record has to come first. ${explainCall(error, 'consent')}`);
  }
}

/** Explains an error in one sentence for the terminal. Rethrows internal errors, whose stack is needed. */
export function explainRecords(error: unknown): string {
  if (error instanceof NotConfigured || error instanceof ConfigError) return error.message;
  const { code, path } = error as { code?: unknown; path?: unknown };
  if (typeof path === 'string') return `${path}: ${code}`;
  // SQLSTATEs for role, password and privileges: appendix A of the Postgres manual.
  if (code === '28P01' || code === '28000')
    return 'The database does not admit this role: RECORDS_DATABASE_URL.';
  if (code === '42501')
    return 'This role may not read the records: it needs SELECT on consent and consent_audit.';
  if (translateDatabaseError(error).reason === 'unavailable') return 'The database does not answer.';
  throw error;
}
