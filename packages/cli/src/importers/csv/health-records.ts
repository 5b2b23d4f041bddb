import type { DescField } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BLOOD_TYPES, GENDERS } from '@phds/catalog/wire-names';
import { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
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

const COMMON = ['record', 'key', 'source'];
const PROFILE = 'profile';
const PROFILE_COLUMNS = ['name', 'gender', 'dateOfBirth', 'bloodType'] as const;

/** The kinds by their name in the column `record`, with the member of the rpc's record. */
const KINDS: ReadonlyMap<string, NonNullable<ImportedHealthRecord['record']['case']>> = new Map([
  ['symptom', 'symptom'],
  ['medication', 'medication'],
  ['adherence', 'adherenceEntry'],
  ['condition', 'condition'],
  ['allergy', 'allergy'],
  ['appointment', 'appointment'],
  ['mood', 'moodEntry'],
  ['report', 'report'],
  ['ehr', 'ehrRecord'],
]);

/** The fields of a kind, by column: texts and times, named as in the public interface. */
export const HEALTH_RECORD_FIELDS: ReadonlyMap<string, ReadonlyMap<string, DescField>> = new Map(
  [...KINDS].map(([name, member]) => {
    const fields = HealthRecordSchema.field[member].message?.fields ?? [];
    const toColumn = ({ localName }: DescField) => (localName === 'medicationKey' ? 'medication' : localName);
    return [name, new Map(fields.map((field) => [toColumn(field), field]))];
  }),
);

/** The columns of a file with records. Each kind uses some of them; the others stay empty. */
export const HEALTH_RECORD_COLUMNS: readonly string[] = [
  ...new Set([
    ...COMMON,
    ...[...HEALTH_RECORD_FIELDS.values()].flatMap((fields) => [...fields.keys()]),
    ...PROFILE_COLUMNS,
  ]),
];

const SOURCE = 'csv';
const NAME_LENGTH = 200;
/** Maximum text length of the rpc. */
const TEXT_LENGTH = 4_000;

/** Converts the fields of one record. Dates without a time are days in the zone. Throws Refused. */
export function createHealthRecordParser(columns: Columns<string>) {
  return (row: readonly string[], timeZone: string): Outcome => {
    const text = (name: string) => parseText(name, row[columns.get(name) ?? -1] ?? '', TEXT_LENGTH);
    const name = normalise(text('record'));
    if (name === PROFILE) {
      checkColumns(name, PROFILE_COLUMNS, columns, row);
      return { kind: 'profile', facts: profileOf(text) };
    }
    const fields = HEALTH_RECORD_FIELDS.get(name);
    if (fields === undefined)
      throw new Refused(`record must be one of ${[...KINDS.keys(), PROFILE].join(', ')}`);
    checkColumns(name, [...fields.keys()], columns, row);
    if (statesAbsence({ text: text('name') })) return { kind: 'left-out', type: name, reason: NOTHING };
    const values = [...fields].map(([column, { localName, message }]) => {
      const stated = text(column);
      if (column === 'dateTime') return [localName, parseZonedTime(column, stated)];
      if (message === undefined) return [localName, stated];
      // An empty time is absent.
      return [localName, stated === '' ? undefined : timestampFromMs(parseTime(column, stated, timeZone))];
    });
    const record = {
      case: KINDS.get(name),
      value: Object.fromEntries(values),
    } as ImportedHealthRecord['record'];
    return {
      kind: 'record',
      record: { label: name, key: text('key'), source: text('source') || SOURCE, record },
    };
  };
}

/** Throws Refused for a text in a column of another kind, which would be lost. */
function checkColumns(
  name: string,
  own: readonly string[],
  columns: Columns<string>,
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

function profileOf(text: (name: string) => string): ImportedProfile {
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

/** A text of at most `maxLength` UTF-16 units. Throws Refused for a longer one, which the rpc would refuse anyway. */
export function parseText(field: string, text: string, maxLength: number): string {
  if (text.length > maxLength) throw new Refused(`${field} is longer than ${maxLength} characters`);
  return text;
}
