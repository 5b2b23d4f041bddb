import type pg from 'pg';
import type { Placement } from '../src/database.ts';
import { createUserEraser } from '../src/erasure.ts';
import { createReadingSpans } from '../src/fhir/reading-spans.ts';
import { createReadingWriter } from '../src/ingest-readings.ts';
import { createRecordWriter } from '../src/ingest-records.ts';
import { createProfiles } from '../src/profiles.ts';
import { createReadingChanges } from '../src/reading-changes.ts';
import { createReadings } from '../src/readings.ts';
import { createHealthRecords } from '../src/records.ts';
import { createSummaries } from '../src/summaries.ts';
import { createWeights } from '../src/weights.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

export type Stores = ReturnType<typeof createStores>;

/** The stores that reads are answered from, and those that write data. */
export function createStores(pool: pg.Pool, placement?: Placement) {
  return {
    readings: createReadings(pool, undefined, placement),
    readingSpans: createReadingSpans(pool, undefined, placement),
    readingChanges: createReadingChanges(pool),
    summaries: createSummaries(pool, PATIENT_SCANS),
    weights: createWeights(pool),
    healthRecords: createHealthRecords(pool),
    profiles: createProfiles(pool),
    readingWriter: createReadingWriter(pool),
    recordWriter: createRecordWriter(pool),
    eraser: createUserEraser(pool, undefined, placement),
  };
}
