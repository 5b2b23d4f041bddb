import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ImportedHealthRecord } from '../ingest/imported-item.ts';
import { parseZonedTime } from './values.ts';

/** The columns of a file with records, named as in the public interface. Each kind uses some of them; the others stay empty. */
export const HEALTH_RECORD_COLUMNS = [
  'record',
  'key',
  'source',
  'name',
  'severity',
  'sinceDate',
  'dosage',
  'frequency',
  'condition',
  'pattern',
  'medication',
  'scheduledAt',
  'status',
  'takenAt',
  'dose',
  'reason',
  'description',
  'timestamp',
  'mood',
  'note',
  'title',
  'dateTime',
  'specialty',
  'location',
  'generatedAt',
  'from',
  'to',
  'summary',
  'resourceType',
  'gender',
  'dateOfBirth',
  'bloodType',
] as const;
export type HealthRecordColumn = (typeof HEALTH_RECORD_COLUMNS)[number];

type Content = ImportedHealthRecord['record'];

/** The fields of one record. Both methods throw Refused for a text that is too long or an invalid time. */
export interface Fields {
  text(name: HealthRecordColumn): string;
  /** Absent if the field is empty. */
  time<Name extends HealthRecordColumn>(name: Name): { [Key in Name]?: Timestamp };
}

export interface HealthRecordKind {
  /** The columns of this kind, besides those of every record. */
  readonly columns: readonly HealthRecordColumn[];
  readonly build: (fields: Fields) => Content;
}

const STANDING_FACT: readonly HealthRecordColumn[] = ['name', 'severity', 'sinceDate'];

/** The kinds by their name in the column `record`. */
export const HEALTH_RECORD_KINDS: { readonly [name: string]: HealthRecordKind } = {
  symptom: {
    columns: ['description', 'severity', 'timestamp'],
    build: ({ text, time }) => ({
      case: 'symptom',
      value: { description: text('description'), severity: text('severity'), ...time('timestamp') },
    }),
  },
  medication: {
    columns: ['name', 'dosage', 'frequency', 'condition', 'pattern'],
    build: ({ text }) => ({
      case: 'medication',
      value: {
        name: text('name'),
        dosage: text('dosage'),
        frequency: text('frequency'),
        condition: text('condition'),
        pattern: text('pattern'),
      },
    }),
  },
  adherence: {
    columns: ['medication', 'scheduledAt', 'status', 'takenAt', 'dose', 'reason'],
    build: ({ text, time }) => ({
      case: 'adherenceEntry',
      value: {
        medicationKey: text('medication'),
        ...time('scheduledAt'),
        status: text('status'),
        ...time('takenAt'),
        dose: text('dose'),
        reason: text('reason'),
      },
    }),
  },
  condition: {
    columns: STANDING_FACT,
    build: ({ text }) => ({
      case: 'condition',
      value: { name: text('name'), severity: text('severity'), sinceDate: text('sinceDate') },
    }),
  },
  allergy: {
    columns: STANDING_FACT,
    build: ({ text }) => ({
      case: 'allergy',
      value: { name: text('name'), severity: text('severity'), sinceDate: text('sinceDate') },
    }),
  },
  appointment: {
    columns: ['title', 'dateTime', 'specialty', 'location'],
    build: ({ text }) => ({
      case: 'appointment',
      value: {
        title: text('title'),
        dateTime: parseZonedTime('dateTime', text('dateTime')),
        specialty: text('specialty'),
        location: text('location'),
      },
    }),
  },
  mood: {
    columns: ['mood', 'note', 'timestamp'],
    build: ({ text, time }) => ({
      case: 'moodEntry',
      value: { mood: text('mood'), note: text('note'), ...time('timestamp') },
    }),
  },
  report: {
    columns: ['generatedAt', 'from', 'to', 'summary'],
    build: ({ text, time }) => ({
      case: 'report',
      value: { ...time('generatedAt'), from: text('from'), to: text('to'), summary: text('summary') },
    }),
  },
  ehr: {
    columns: ['resourceType', 'summary', 'timestamp'],
    build: ({ text, time }) => ({
      case: 'ehrRecord',
      value: { resourceType: text('resourceType'), summary: text('summary'), ...time('timestamp') },
    }),
  },
};
