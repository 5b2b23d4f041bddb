import type { Clock } from '@phds/service-kit/clock';
import { KEY_LOOK_UPS, openPostgres } from '@phds/service-kit/postgres/postgres';
import { countNext } from '../src/access/counts.ts';
import { type AccessRecorder, createAccessRecorder } from '../src/access/record.ts';
import { createAccessStatements } from '../src/access/statements.ts';

/** The hot path without the service, so that a test can set its clock. */
export interface DatedRecorder extends AsyncDisposable {
  readonly recorder: AccessRecorder;
  /** Counts as the service does periodically. Returns the number of batches. */
  count(): Promise<number>;
}

// No service has started on the database, so there is nothing to compare with.
const guard = {
  remembered: [null, 0] as const,
  verified: <T>(operation: () => Promise<T>) => operation(),
};

/** A recorder with a chain of its own on that database, which may date records as it likes unless an option says otherwise. */
export function startDatedRecorder(
  databaseUrl: string,
  clock: Clock,
  clockToleranceMs = Number.POSITIVE_INFINITY,
): DatedRecorder {
  const database = openPostgres({
    connectionString: databaseUrl,
    schema: 'consent',
    poolSize: 4,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 20_000,
    applicationName: 'phds-test-recorder',
    settings: KEY_LOOK_UPS,
  });
  const { pool } = database;
  const recorder = createAccessRecorder({
    statements: createAccessStatements(pool, { clockToleranceMs, guard }),
    clock,
    maxBatch: 500,
    maxQueued: 10_000,
    maxWaitMs: 30_000,
    maxGrants: 100,
  });
  return {
    recorder,
    count: () => countNext(pool, 200),
    async [Symbol.asyncDispose]() {
      await recorder[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
