import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BLOOD_TYPES, GENDERS } from '@phds/catalog/wire-names';
import { statesAbsence } from '../fhir/concepts.ts';
import { NOTHING } from '../fhir/resources.ts';
import { parseTime, parseZonedTime } from '../ingest/dates.ts';
import {
  type ImportedHealthRecord,
  type ImportedProfile,
  type Outcome,
  Refused,
} from '../ingest/importer.ts';
import { type Columns, normalise } from '../tables/rows.ts';

const COMMON = ['record', 'key', 'source'] as const;
const PROFILE = 'profile';
const PROFILE_COLUMNS = ['name', 'gender', 'dateOfBirth', 'bloodType'] as const;

/** The kinds by their name in the column `record`: their name in the rpc, and their columns besides those of every record. */
export const HEALTH_RECORD_KINDS = {
  symptom: { field: 'symptom', columns: ['description', 'severity', 'timestamp'] },
  medication: { field: 'medication', columns: ['name', 'dosage', 'frequency', 'condition', 'pattern'] },
  adherence: {
    field: 'adherenceEntry',
    columns: ['medication', 'scheduledAt', 'status', 'takenAt', 'dose', 'reason'],
  },
  condition: { field: 'condition', columns: ['name', 'severity', 'sinceDate'] },
  allergy: { field: 'allergy', columns: ['name', 'severity', 'sinceDate'] },
  appointment: { field: 'appointment', columns: ['title', 'dateTime', 'specialty', 'location'] },
  mood: { field: 'moodEntry', columns: ['mood', 'note', 'timestamp'] },
  report: { field: 'report', columns: ['generatedAt', 'from', 'to', 'summary'] },
  ehr: { field: 'ehrRecord', columns: ['resourceType', 'summary', 'timestamp'] },
} as const satisfies Readonly<
  Record<string, { field: NonNullable<ImportedHealthRecord['record']['case']>; columns: readonly string[] }>
>;
type KindName = keyof typeof HEALTH_RECORD_KINDS;

type HealthRecordColumn =
  | (typeof COMMON)[number]
  | (typeof HEALTH_RECORD_KINDS)[KindName]['columns'][number]
  | (typeof PROFILE_COLUMNS)[number];

/** The columns of a file with records, named as in the public interface. Each kind uses some of them; the others stay empty. */
export const HEALTH_RECORD_COLUMNS: readonly HealthRecordColumn[] = [
  ...new Set<HealthRecordColumn>([
    ...COMMON,
    ...Object.values(HEALTH_RECORD_KINDS).flatMap<HealthRecordColumn>(({ columns }) => columns),
    ...PROFILE_COLUMNS,
  ]),
];

const TIMES: readonly HealthRecordColumn[] = ['scheduledAt', 'takenAt', 'timestamp', 'generatedAt'];

const SOURCE = 'csv';
const NAME_LENGTH = 200;
/** Maximum text length of the rpc. */
const TEXT_LENGTH = 4_000;

/** Converts the fields of one record. Dates without a time are days in the zone. Throws Refused. */
export function createHealthRecordParser(columns: Columns<HealthRecordColumn>) {
  return (row: readonly string[], timeZone: string): Outcome => {
    const text = (name: HealthRecordColumn) =>
      parseText(name, row[columns.get(name) ?? -1] ?? '', TEXT_LENGTH);
    const name = normalise(text('record'));
    if (name === PROFILE) {
      checkColumns(name, PROFILE_COLUMNS, columns, row);
      return { kind: 'profile', facts: profileOf(text) };
    }
    if (!Object.hasOwn(HEALTH_RECORD_KINDS, name))
      throw new Refused(`record must be one of ${[...Object.keys(HEALTH_RECORD_KINDS), PROFILE].join(', ')}`);
    const kind = HEALTH_RECORD_KINDS[name as KindName];
    const own: readonly HealthRecordColumn[] = kind.columns;
    checkColumns(name, own, columns, row);
    if (statesAbsence({ text: text('name') })) return { kind: 'left-out', type: name, reason: NOTHING };
    const fields = own.map((column) => fieldOf(column, text(column), timeZone));
    // The columns are the fields of the kind.
    const record = { case: kind.field, value: Object.fromEntries(fields) } as ImportedHealthRecord['record'];
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
    if (row[index] === '' || own.includes(column) || COMMON.some((name) => name === column)) continue;
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

/** Name and value of a field of the rpc. An empty time is absent. */
function fieldOf(column: HealthRecordColumn, text: string, timeZone: string) {
  if (column === 'dateTime') return [column, parseZonedTime(column, text)];
  if (TIMES.includes(column))
    return [column, text === '' ? undefined : timestampFromMs(parseTime(column, text, timeZone))];
  return [column === 'medication' ? 'medicationKey' : column, text];
}

/** A text of at most `maxLength` UTF-16 units. Throws Refused for a longer one, which the rpc would refuse anyway. */
export function parseText(field: string, text: string, maxLength: number): string {
  if (text.length > maxLength) throw new Refused(`${field} is longer than ${maxLength} characters`);
  return text;
}
