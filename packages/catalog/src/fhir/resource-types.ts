import type { EndpointScope } from '../endpoints.ts';
import { OBSERVATION_SCOPES, US_CORE } from './observation-kinds.ts';

/** Prefix of the paths of the FHIR interface. */
export const FHIR_PREFIX = '/fhir/R4';

interface Row {
  /** Prefixes of the ids of its resources. */
  readonly idPrefixes: readonly string[];
  /** The scopes of the data that its resources are made from. */
  readonly scopes: readonly EndpointScope[];
  /** The search parameters of R4 besides `patient` and those of every type. */
  readonly search: readonly SearchParameter[];
}

/** A search parameter of one or more types, as named by R4. */
export type SearchParameter =
  | 'identifier'
  | 'subject'
  | 'category'
  | 'code'
  | 'combo-code'
  | 'date'
  | 'onset-date'
  | 'effective-time'
  | 'status'
  | 'intent'
  | 'clinical-status';

const TABLE = {
  Patient: { idPrefixes: ['pat'], scopes: ['read:profile'], search: ['identifier'] },
  Observation: {
    idPrefixes: ['rdg', 'wgt', 'sym', 'mood', 'blood'],
    scopes: OBSERVATION_SCOPES,
    search: ['subject', 'category', 'code', 'combo-code', 'date', 'status'],
  },
  Condition: {
    idPrefixes: ['cnd'],
    scopes: ['read:conditions'],
    search: ['subject', 'category', 'clinical-status', 'onset-date'],
  },
  AllergyIntolerance: { idPrefixes: ['alg'], scopes: ['read:allergies'], search: ['clinical-status'] },
  MedicationRequest: {
    idPrefixes: ['med'],
    scopes: ['read:medications'],
    search: ['subject', 'status', 'intent'],
  },
  MedicationAdministration: {
    idPrefixes: ['adh'],
    scopes: ['read:medications'],
    search: ['subject', 'status', 'effective-time'],
  },
  Appointment: { idPrefixes: ['apt'], scopes: ['read:appointments'], search: ['date', 'status'] },
  DiagnosticReport: {
    idPrefixes: ['rpt'],
    scopes: ['read:reports'],
    search: ['subject', 'date', 'status'],
  },
  DocumentReference: { idPrefixes: ['ehr'], scopes: ['read:ehr'], search: ['subject', 'date', 'status'] },
} as const satisfies Record<string, Row>;

/** A resource type that the FHIR interface serves. */
export type FhirType = keyof typeof TABLE;

/** The served resource types, in the published order. */
export const FHIR_TYPES = Object.keys(TABLE) as readonly FhirType[];

/** Whether a path segment is a served resource type. */
export function isFhirType(text: string): text is FhirType {
  return Object.hasOwn(TABLE, text);
}

/** The traits of a resource type. */
export function fhirTypeOf(type: FhirType): Row {
  return TABLE[type];
}

/** Every search parameter of a type, but not those that control the answer (`_count`, `_sort`). */
export function searchParametersOf(type: FhirType): readonly string[] {
  return [...(type === 'Patient' ? [] : ['patient']), '_id', ...TABLE[type].search];
}

/** The path of searches of a type, or of reads by id: the name of an endpoint in access records, app usage and metrics. */
export function fhirPathOf(type: FhirType, isRead: boolean): string {
  return `${FHIR_PREFIX}/${type}${isRead ? '/{id}' : ''}`;
}

/** The profile of a Patient with a name and a gender. */
export const PATIENT_PROFILE = `${US_CORE}us-core-patient`;

const SUB_PREFIX = 'sub_';

/** The id of the Patient resource of a person for one app, from the `sub` that the app knows: FHIR allows no `_` in ids. */
export function toPatientId(sub: string): string {
  return `pat-${sub.slice(SUB_PREFIX.length)}`;
}
