import { scopeOfCategory } from './endpoints.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scopes.ts';

/** One type of data in the archive of a person's own data. */
interface OwnDataKind {
  /** The key of a type of readings, a kind of record, or `profile`. */
  readonly kind: string;
  /** Names of the files without their endings. */
  readonly file: string;
  /** The scope that opens this data to apps. */
  readonly scope: Scope;
  /** The public name of a type of readings; null for others. */
  readonly type: string | null;
}

/** The kinds of records, with the names of their files. */
const RECORDS = [
  ['profile', 'profile', 'read:profile'],
  ['symptom', 'symptoms', 'read:symptoms'],
  ['medication', 'medications', 'read:medications'],
  ['adherenceEntry', 'doses', 'read:medications'],
  ['condition', 'conditions', 'read:conditions'],
  ['allergy', 'allergies', 'read:allergies'],
  ['appointment', 'appointments', 'read:appointments'],
  ['moodEntry', 'mood', 'read:mood'],
  ['report', 'reports', 'read:reports'],
  ['ehrRecord', 'ehr-records', 'read:ehr'],
] as const;

/** All health data of a person, in the order of the archive. */
export const OWN_DATA: readonly OwnDataKind[] = [
  ...RECORDS.map(([kind, file, scope]) => ({ kind, file, scope, type: null })),
  ...METRICS.map(({ key, category, name }) => ({
    kind: key,
    file: `readings/${key}`,
    scope: scopeOfCategory(category),
    type: name,
  })),
];
