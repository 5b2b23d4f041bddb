import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { HealthRecord } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { HealthRecordDraft } from '../domain/health-record-drafts.ts';

/** A record of the ingestion interface before validation. */
export function toHealthRecordDraft({ key, source, record }: HealthRecord): HealthRecordDraft {
  const { case: kind, value } = record;
  switch (kind) {
    case 'symptom':
      return { key, source, kind, fields: { ...value, timestamp: toDate(value.timestamp) } };
    case 'medication':
    case 'condition':
    case 'allergy':
    case 'appointment':
      return { key, source, kind, fields: value } as HealthRecordDraft;
    case 'adherenceEntry': {
      const times = { scheduledAt: toDate(value.scheduledAt), takenAt: toDate(value.takenAt) };
      return { key, source, kind: 'adherence-entry', fields: { ...value, ...times } };
    }
    case 'moodEntry':
      return { key, source, kind: 'mood-entry', fields: { ...value, timestamp: toDate(value.timestamp) } };
    case 'report':
      return { key, source, kind, fields: { ...value, generatedAt: toDate(value.generatedAt) } };
    case 'ehrRecord':
      return { key, source, kind: 'ehr-record', fields: { ...value, timestamp: toDate(value.timestamp) } };
    default:
      return { key, source, kind: null };
  }
}

export function toDate(timestamp: Timestamp | undefined): Date | null {
  return timestamp === undefined ? null : new Date(timestampMs(timestamp));
}
