import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BLOOD_TYPES, GENDERS } from '@phds/catalog/wire-names';
import type { ImportedHealthRecord, ImportedProfile } from '../ingest/imported-item.ts';
import { Refused } from '../ingest/refused.ts';
import { type Columns, normalise } from '../tables/header.ts';
import { HEALTH_RECORD_KINDS, type HealthRecordColumn } from './health-record-kinds.ts';
import { parseText, parseTime } from './values.ts';

/** The result of one record of the file. */
export type HealthRecordOutcome =
  | { readonly kind: 'record'; readonly record: ImportedHealthRecord }
  | { readonly kind: 'profile'; readonly facts: ImportedProfile };

const PROFILE = 'profile';
const PROFILE_COLUMNS = ['name', 'gender', 'dateOfBirth', 'bloodType'] as const;
const COMMON: readonly HealthRecordColumn[] = ['record', 'key', 'source'];

const SOURCE = 'csv';
const NAME_LENGTH = 200;
/** Maximum text length of the rpc. */
const TEXT_LENGTH = 4_000;

/** Converts the fields of one record. Throws Refused. */
export type HealthRecordParser = (fields: readonly string[]) => HealthRecordOutcome;

export function createHealthRecordParser(columns: Columns<HealthRecordColumn>): HealthRecordParser {
  return (row) => {
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
    const record = kind.build({ text, time: (field) => timeOf(field, text(field)) });
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

function timeOf<Name extends HealthRecordColumn>(name: Name, text: string): { [Key in Name]?: Timestamp } {
  if (text === '') return {};
  return { [name]: timestampFromMs(parseTime(name, text)) } as { [Key in Name]?: Timestamp };
}
