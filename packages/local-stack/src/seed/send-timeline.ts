import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { IngestionService, PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { SyntheticReading } from '@phds/synthetic/reading';
import { recordsIn } from '@phds/synthetic/records/records';
import { readingsIn, type Timeline } from '@phds/synthetic/timeline';

const READINGS_PER_CALL = 5_000;
const RECORDS_PER_CALL = 500;

type Ingestion = Client<typeof IngestionService>;

/** The numbers of items sent. */
export interface SentCounts {
  readonly readings: number;
  readonly records: number;
}

/**
 * Sends part of a synthetic life to a user of health-data: profile, readings, records. Idempotent. Throws when anything is refused.
 */
export async function sendTimeline(
  ingestion: Ingestion,
  userId: string,
  timeline: Timeline,
): Promise<SentCounts> {
  const { profile, timeZone } = timeline.person;
  if (profile !== null) await ingestion.putProfile({ userId, ...profile, timeZone });
  const counts = { readings: 0, records: 0 };
  for (const batch of toBatches(readingsIn(timeline), READINGS_PER_CALL)) {
    const { result } = await ingestion.putReadings({ userId, readings: batch.map(toMessage) });
    refuseRefusals(userId, result);
    counts.readings += batch.length;
  }
  for (const records of toBatches(recordsIn(timeline), RECORDS_PER_CALL)) {
    const { result } = await ingestion.putHealthRecords({ userId, records });
    refuseRefusals(userId, result);
    counts.records += records.length;
  }
  return counts;
}

function toMessage({ type, start, end, value, source }: SyntheticReading) {
  return { type, start: timestampFromMs(start), end: timestampFromMs(end), value, source };
}

function refuseRefusals(userId: string, result: PutResult | undefined): void {
  const [first] = result?.refusals ?? [];
  if (first === undefined) return;
  throw new Error(`synthetic data of ${userId} was refused: item ${first.index}: ${first.reason}`);
}

function* toBatches<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
