import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BLOOD_TYPES, GENDERS } from '@phds/catalog/wire-names';
import { statesAbsence } from '../fhir/concepts.ts';
import { parseTime, parseZonedTime } from '../ingest/dates.ts';
import { type ImportedHealthRecord, type ImportedProfile, Refused } from '../ingest/importer.ts';
import { type Columns, normalise } from '../tables/rows.ts';
import { parseText } from './values.ts';

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
type HealthRecordColumn = (typeof HEALTH_RECORD_COLUMNS)[number];

type Content = ImportedHealthRecord['record'];

/** The fields of one record. Both methods throw Refused for a text that is too long or an invalid time. */
interface Fields {
  text(name: HealthRecordColumn): string;
  /** Absent if the field is empty. */
  time<Name extends HealthRecordColumn>(name: Name): { [Key in Name]?: Timestamp };
}

interface HealthRecordKind {
  /** The columns of this kind, besides those of every record. */
  readonly columns: readonly HealthRecordColumn[];
  readonly build: (fields: Fields) => Content;
}

const CONDITION_OR_ALLERGY: readonly HealthRecordColumn[] = ['name', 'severity', 'sinceDate'];

/** The kinds by their name in the column `record`. */
const HEALTH_RECORD_KINDS: { readonly [name: string]: HealthRecordKind } = {
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
    columns: CONDITION_OR_ALLERGY,
    build: ({ text }) => ({
      case: 'condition',
      value: { name: text('name'), severity: text('severity'), sinceDate: text('sinceDate') },
    }),
  },
  allergy: {
    columns: CONDITION_OR_ALLERGY,
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

/** The result of one record of the file. */
type HealthRecordOutcome =
  | { readonly kind: 'left-out'; readonly label: string }
  | { readonly kind: 'record'; readonly record: ImportedHealthRecord }
  | { readonly kind: 'profile'; readonly facts: ImportedProfile };

const PROFILE = 'profile';
const PROFILE_COLUMNS = ['name', 'gender', 'dateOfBirth', 'bloodType'] as const;
const COMMON: readonly HealthRecordColumn[] = ['record', 'key', 'source'];

const SOURCE = 'csv';
const NAME_LENGTH = 200;
/** Maximum text length of the rpc. */
const TEXT_LENGTH = 4_000;

/** Converts the fields of one record. Dates without a time are days in the zone. Throws Refused. */
type HealthRecordParser = (fields: readonly string[], timeZone: string) => HealthRecordOutcome;

export function createHealthRecordParser(columns: Columns<HealthRecordColumn>): HealthRecordParser {
  return (row, timeZone) => {
    const text = (name: HealthRecordColumn) =>
      parseText(name, row[columns.get(name) ?? -1] ?? '', TEXT_LENGTH);
    const name = normalise(text('record'));
    if (name === PROFILE) {
      checkColumns(name, PROFILE_COLUMNS, columns, row);
      return { kind: 'profile', facts: profileOf(text) };
    }
    const kind = Object.hasOwn(HEALTH_RECORD_KINDS, name) ? HEALTH_RECORD_KINDS[name] : undefined;
    if (kind === undefined)
      throw new Refused(`record must be one of ${[...Object.keys(HEALTH_RECORD_KINDS), PROFILE].join(', ')}`);
    checkColumns(name, kind.columns, columns, row);
    if (statesAbsence({ text: text('name') })) return { kind: 'left-out', label: name };
    const record = kind.build({ text, time: (field) => timeOf(field, text(field), timeZone) });
    return {
      kind: 'record',
      record: { label: name, key: text('key'), source: text('source') || SOURCE, record },
    };
  };
}

/** Throws Refused for a text in a column of another kind, which would be lost. */
function checkColumns(
  name: string,
  own: readonly HealthRecordColumn[],
  columns: Columns<HealthRecordColumn>,
  row: readonly string[],
): void {
  for (const [column, index] of columns) {
    if (row[index] === '' || own.includes(column) || COMMON.includes(column)) continue;
    throw new Refused(`${column} does not belong to a record of the kind ${name}`);
  }
}

/** Checked here, because the rpc accepts a profile only as a whole. */
const PROFILE_CHECKS: { readonly [Name in (typeof PROFILE_COLUMNS)[number]]: (text: string) => boolean } = {
  name: (text) => text.length <= NAME_LENGTH && text.isWellFormed() && !/\p{Cc}/u.test(text),
  gender: (text) => GENDERS.some((known) => known === text),
  dateOfBirth: isDate,
  bloodType: (text) => BLOOD_TYPES.some((known) => known === text),
};

function profileOf(text: (name: HealthRecordColumn) => string): ImportedProfile {
  const filled = PROFILE_COLUMNS.map((name) => [name, text(name)] as const).filter(
    ([, value]) => value !== '',
  );
  for (const [name, value] of filled) {
    if (!PROFILE_CHECKS[name](value)) throw new Refused(`${name} of the profile is not valid`);
  }
  return Object.fromEntries(filled);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(parseTime('dateOfBirth', text));
}

function timeOf<Name extends HealthRecordColumn>(
  name: Name,
  text: string,
  timeZone: string,
): { [Key in Name]?: Timestamp } {
  if (text === '') return {};
  return { [name]: timestampFromMs(parseTime(name, text, timeZone)) } as { [Key in Name]?: Timestamp };
}
