import type { Clock } from '@phds/service-kit/clock';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { shared } from '@phds/test-kit/shared';
import { toPoolSettings } from '../../src/database.ts';
import { createReadingChanges } from '../../src/reading-changes.ts';
import type { DataParts } from '../../src/resources.ts';
import type { IngestionParts } from '../../src/rpc/ingestion-service.ts';
import { createStores } from '../stores.ts';

const POOL_SIZE = 8;

/** Changes that the second instance searches for a page: few, so that searches often end before a page is full. */
const SEARCHED = 2;

/** The dependencies of the use cases in one running service, without the wire. */
export interface Instance {
  readonly data: DataParts;
  readonly ingestion: IngestionParts;
}

/** Two instances of the service on one database. */
export interface Ports {
  readonly clock: Clock;
  readonly instances: readonly [Instance, Instance];
}

/** One for all tests of the file. */
export async function sharePorts(now: string): Promise<Ports> {
  const database = shared.use(await createTestDatabase('health-data'));
  const clock = new FakeClock(now);
  return { clock, instances: [openInstance(database, clock), openInstance(database, clock, SEARCHED)] };
}

function openInstance(database: TestDatabase, clock: Clock, changesSearched?: number): Instance {
  const { pool } = shared.use(
    openPostgres({
      connectionString: database.url,
      schema: database.schema,
      poolSize: POOL_SIZE,
      statementTimeoutMs: 30_000,
      connectTimeoutMs: 30_000,
      applicationName: 'phds-reference',
      settings: toPoolSettings(database),
    }),
  );
  const { readingWriter, recordWriter, eraser, ...stores } = createStores(pool, database);
  const readingChanges = createReadingChanges(pool, changesSearched);
  return {
    data: { ...stores, readingChanges, changeDays: 400, clock },
    ingestion: {
      readingWriter,
      healthRecordWriter: recordWriter,
      profiles: stores.profiles,
      eraser,
      clock,
    },
  };
}
