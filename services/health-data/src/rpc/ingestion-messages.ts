import { isMessage } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import type { HealthRecord } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { HealthRecordDraft, HealthRecordKind } from '../domain/health-records.ts';

type SentCase = NonNullable<HealthRecord['record']['case']>;

const KINDS: Readonly<Record<SentCase, HealthRecordKind>> = {
  symptom: 'symptom',
  medication: 'medication',
  adherenceEntry: 'adherence-entry',
  condition: 'condition',
  allergy: 'allergy',
  appointment: 'appointment',
  moodEntry: 'mood-entry',
  report: 'report',
  ehrRecord: 'ehr-record',
};

/** A record of the ingestion interface before validation. */
export function toHealthRecordDraft({ key, source, record }: HealthRecord): HealthRecordDraft {
  if (record.case === undefined) return { key, source, kind: null, fields: {} };
  const fields = Object.entries(record.value).map(([name, value]) => [name, toSent(value)]);
  return { key, source, kind: KINDS[record.case], fields: Object.fromEntries(fields) };
}

function toSent(value: unknown): unknown {
  return isMessage(value, TimestampSchema) ? toDate(value) : value;
}

export function toDate(timestamp: Timestamp | undefined): Date | null {
  return timestamp === undefined ? null : new Date(timestampMs(timestamp));
}
