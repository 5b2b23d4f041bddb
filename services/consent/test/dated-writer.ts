import type { Clock } from '@phds/service-kit/clock';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres';
import { type AccessWriter, createAccessWriter } from '../src/app/access-writer.ts';
import { createPgAccessCounter } from '../src/store/pg-access-counter.ts';
import { ACCESS_POOL_SETTINGS, createPgAccessRecorder } from '../src/store/pg-access-recorder.ts';

/** The hot path of a service without the service, so that a test may set its clock. */
export interface DatedWriter extends AsyncDisposable {
  readonly pool: Postgres['pool'];
  readonly writer: AccessWriter;
  /** As the service does now and then; answers how many batches. */
  count(): Promise<number>;
}

// No service has started on the database, so nothing is remembered of it.
const guard = {
  witness: [null, 0] as const,
  verified: <T>(operation: () => Promise<T>) => operation(),
};

/** A writer with a chain of its own on that database, which may date records as it likes unless told otherwise. */
export function startDatedWriter(
  databaseUrl: string,
  clock: Clock,
  clockToleranceMs = Number.POSITIVE_INFINITY,
): DatedWriter {
  const database = openPostgres({
    connectionString: databaseUrl,
    schema: 'consent',
    poolSize: 4,
    statementTimeoutMs: 20_000,
    applicationName: 'phds-test-writer',
    settings: ACCESS_POOL_SETTINGS,
  });
  const { pool } = database;
  const writer = createAccessWriter(
    { recorder: createPgAccessRecorder(pool, { clockToleranceMs, guard }), clock },
    { maxBatch: 500, maxQueued: 10_000, maxWaitMs: 30_000, maxGrants: 100 },
  );
  const counter = createPgAccessCounter(pool);
  return {
    pool,
    writer,
    count: () => counter.countNext(200),
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
