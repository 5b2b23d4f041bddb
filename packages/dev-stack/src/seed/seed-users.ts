import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { IngestionService, type PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import type { ServiceTokenSource } from '@phds/service-kit/service-token';
import type { SeedReading } from './day.ts';
import { ADA_HISTORY, GRACE_HISTORY, type MedicalHistory } from './medical-history.ts';
import { ADA, GRACE, type Person, SPARSE } from './person.ts';
import { listReadings, listSparseReadings } from './readings.ts';
import { listRecords, type SeedRecord } from './records.ts';

const READINGS_PER_CALL = 2_500;
const RECORDS_PER_CALL = 500;
const DEADLINE_MS = 30_000;

/**
 * Fills in the synthetic users through the ingestion rpc: `ada` and `grace` with data of every kind, `sparse` with a
 * little, nothing for `empty`. Idempotent for the same `now`. Throws when anything is refused.
 */
export async function seedUsers(address: string, tokens: ServiceTokenSource, now: Date): Promise<void> {
  using channel = openRpcChannel({ address, audience: 'health-data', tokens, deadlineMs: DEADLINE_MS });
  const ingestion = channel.client(IngestionService);
  await Promise.all([
    seedPerson(ingestion, ADA, ADA_HISTORY, now),
    seedPerson(ingestion, GRACE, GRACE_HISTORY, now),
    seedSparse(ingestion, now),
  ]);
}

type Ingestion = Client<typeof IngestionService>;

async function seedPerson(ingestion: Ingestion, person: Person, history: MedicalHistory, now: Date) {
  const { userId, profile, timeZone } = person;
  await ingestion.putProfile({ userId, ...profile, timeZone });
  await putReadings(ingestion, userId, listReadings(person, now));
  await putRecords(ingestion, userId, listRecords(person, history, now));
}

async function seedSparse(ingestion: Ingestion, now: Date): Promise<void> {
  const { userId, profile, timeZone } = SPARSE;
  await ingestion.putProfile({ userId, ...profile, timeZone });
  await putReadings(ingestion, userId, listSparseReadings(now));
  const value = { name: 'Hay fever', severity: '', sinceDate: '2012' };
  await putRecords(ingestion, userId, [
    { key: 'hay-fever', source: 'manual', record: { case: 'condition', value } },
  ]);
}

async function putReadings(ingestion: Ingestion, userId: string, readings: readonly SeedReading[]) {
  for (const batch of toBatches(readings, READINGS_PER_CALL)) {
    const { result } = await ingestion.putReadings({
      userId,
      readings: batch.map(({ type, start, end, value, source }) => ({
        type,
        start: timestampFromDate(start),
        end: timestampFromDate(end),
        value,
        source,
      })),
    });
    refuseRefusals(userId, result);
  }
}

async function putRecords(ingestion: Ingestion, userId: string, records: readonly SeedRecord[]) {
  for (const batch of toBatches(records, RECORDS_PER_CALL)) {
    const { result } = await ingestion.putRecords({ userId, records: batch });
    refuseRefusals(userId, result);
  }
}

function refuseRefusals(userId: string, result: PutResult | undefined): void {
  const [first] = result?.refusals ?? [];
  if (first === undefined) return;
  throw new Error(`synthetic data of ${userId} was refused: item ${first.index}: ${first.reason}`);
}

function toBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
