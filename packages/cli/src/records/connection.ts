import type { KeyObject } from 'node:crypto';
import { parseCheckpointKeys } from '@phds/record-chain/checkpoint';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { integer, readConfig } from '@phds/service-kit/settings/config';
import { z } from 'zod';
import { NotConfigured } from '../connection.ts';
import { RecordsSnapshot } from './snapshot.ts';

/** The settings of `phds records`. */
export const recordsSettings = z.object({
  RECORDS_DATABASE_URL: z
    .string('must be set')
    .meta({ unit: 'connection string', secret: true })
    .describe("consent's database, with the role `phds_consent_reader`."),
  RECORDS_PUBLIC_KEYS: z
    .string('must be set')
    .meta({ unit: 'JWKS' })
    .describe("Public keys that verify checkpoints: consent's receipt keys, including the earlier ones."),
  RECORDS_STATEMENT_TIMEOUT_MS: integer(600_000, { unit: 'ms' }).describe(
    'Maximum duration of a single statement; 0 is no limit.',
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
  const database = resources.use(
    openPostgres({
      connectionString: config.RECORDS_DATABASE_URL,
      schema: 'consent',
      poolSize: 1,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      statementTimeoutMs: config.RECORDS_STATEMENT_TIMEOUT_MS,
      applicationName: 'phds-records',
      // Makes Postgres read pages from the index instead of sorting everything first.
      settings: { default_transaction_read_only: 'on', cursor_tuple_fraction: 0.001 },
    }),
  );
  const snapshot = resources.use(await RecordsSnapshot.open(database.pool));
  const opened = resources.move();
  return { snapshot, keys, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function parseKeys(jwks: string): KeyObject[] {
  try {
    return parseCheckpointKeys(jwks);
  } catch {
    throw new NotConfigured('RECORDS_PUBLIC_KEYS is not a JWKS.');
  }
}
