import type { BloodType, Gender } from '@phds/catalog/wire-names';
import type { ImportedProfile } from '../ingest/imported-item.ts';
import { isCalendarDate } from './export-dates.ts';
import type { ExportElement } from './export-element.ts';
import { leftOut, type Outcome, refused } from './outcome.ts';

const PREFIX = 'HKCharacteristicTypeIdentifier';

const GENDER_OF_SEX: ReadonlyMap<string, Gender> = new Map([
  ['HKBiologicalSexFemale', 'female'],
  ['HKBiologicalSexMale', 'male'],
  ['HKBiologicalSexOther', 'other'],
]);

const BLOOD_TYPE: ReadonlyMap<string, BloodType> = new Map([
  ['HKBloodTypeAPositive', 'A+'],
  ['HKBloodTypeANegative', 'A-'],
  ['HKBloodTypeBPositive', 'B+'],
  ['HKBloodTypeBNegative', 'B-'],
  ['HKBloodTypeABPositive', 'AB+'],
  ['HKBloodTypeABNegative', 'AB-'],
  ['HKBloodTypeOPositive', 'O+'],
  ['HKBloodTypeONegative', 'O-'],
]);

/** Maps `Me` to date of birth, sex and blood type of the profile. Fields that are not set remain unchanged. */
export function mapMe({ attributes }: ExportElement): readonly Outcome[] {
  const birth = attributes[`${PREFIX}DateOfBirth`] ?? '';
  const gender = GENDER_OF_SEX.get(attributes[`${PREFIX}BiologicalSex`] ?? '');
  const bloodType = BLOOD_TYPE.get(attributes[`${PREFIX}BloodType`] ?? '');
  const isDate = isCalendarDate(birth);
  const facts: ImportedProfile = {
    ...(gender === undefined ? {} : { gender }),
    ...(isDate ? { dateOfBirth: birth } : {}),
    ...(bloodType === undefined ? {} : { bloodType }),
  };
  const problem = birth === '' || isDate ? [] : [refused('Me', 'date of birth is not a date')];
  if (Object.keys(facts).length > 0) return [{ kind: 'profile', facts }, ...problem];
  return problem.length > 0 ? problem : [leftOut('Me', 'nothing is set in it')];
}
