import type { EndpointScope } from '../endpoints.ts';
import { scopeOfCategory } from '../endpoints.ts';
import type { MetricKey } from '../metrics.ts';
import { METRICS } from '../metrics.ts';

export const LOINC = 'http://loinc.org';
export const UCUM = 'http://unitsofmeasure.org';
export const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

export const CONDITION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/condition-category';

/** The categories of HL7 that are published. */
export type Hl7Category = 'vital-signs' | 'laboratory' | 'activity' | 'survey';

/** What an Observation is made from: readings of a metric type, or entries of a list. A blood pressure is one kind with two types. */
export type ObservationKey =
  | Exclude<MetricKey, 'bp-diastolic'>
  | 'daily-weight'
  | 'symptom'
  | 'mood'
  | 'blood-type';

type Row = readonly [
  category: Hl7Category | null,
  profile: string | null,
  published: readonly string[],
  accepted: readonly string[],
];

// LOINC codes of clinical records that have the same meaning, or one that a reading of the type includes, are accepted on import
// and not published. A type without a code of two sources, or with one that says more than is known, has only a code of our own.
// `ms` is not a unit of vital signs (UCUM codes of vital signs, R4), so a heart rate variability has no category of HL7.
const OF_METRICS: Readonly<Record<Exclude<MetricKey, 'bp-diastolic'>, Row>> = {
  'heart-rate': ['vital-signs', 'us-core-heart-rate', ['8867-4'], []],
  'resting-hr': ['vital-signs', null, ['40443-4'], []],
  'walking-hr': ['vital-signs', null, [], []],
  hrv: [null, null, ['80404-7'], []],
  ecg: ['vital-signs', null, [], []],
  // The panel; 55284-4 is its predecessor.
  'blood-pressure': ['vital-signs', 'us-core-blood-pressure', ['85354-9'], ['55284-4']],
  spo2: ['vital-signs', 'us-core-pulse-oximetry', ['59408-5', '2708-6'], []],
  'respiratory-rate': ['vital-signs', 'us-core-respiratory-rate', ['9279-1'], []],
  respiratory: ['vital-signs', 'us-core-respiratory-rate', ['9279-1'], []],
  // Published for a reading of a glucometer, not for one of a laboratory (`hasLoinc`).
  glucose: ['laboratory', null, ['41653-7'], ['2339-0', '2345-7', '99504-3', '15074-8']],
  temperature: ['vital-signs', 'us-core-body-temperature', ['8310-5'], ['8331-1']],
  steps: ['activity', null, ['55423-8'], ['41950-7']],
  distance: ['activity', null, [], []],
  calories: ['activity', null, ['41981-2'], []],
  'basal-calories': ['activity', null, [], []],
  exercise: ['activity', null, ['55411-3'], []],
  flights: ['activity', null, ['100304-5'], []],
  sleep: ['activity', null, ['93832-4'], []],
  'sleep-deep': ['activity', null, ['93831-6'], []],
  'sleep-core': ['activity', null, ['93830-8'], []],
  'sleep-rem': ['activity', null, ['93829-0'], []],
  'sleep-awake': ['activity', null, [], []],
  'time-in-bed': ['activity', null, [], []],
  weight: ['vital-signs', 'us-core-body-weight', ['29463-7'], ['3141-9']],
  height: ['vital-signs', 'us-core-body-height', ['8302-2'], []],
  bmi: ['vital-signs', 'us-core-bmi', ['39156-5'], []],
  'body-fat': ['vital-signs', null, ['41982-0'], []],
  mindfulness: ['activity', null, [], []],
};

const OF_LISTS: Readonly<
  Record<Exclude<ObservationKey, MetricKey>, readonly [scope: EndpointScope, ...Row]>
> = {
  'daily-weight': ['read:weight', 'vital-signs', 'us-core-body-weight', ['29463-7'], []],
  symptom: ['read:symptoms', 'survey', null, ['75325-1'], []],
  mood: ['read:mood', 'survey', null, [], []],
  'blood-type': ['read:profile', 'laboratory', null, ['882-1'], []],
};

/** A kind of Observation. */
export interface ObservationKind {
  readonly key: ObservationKey;
  readonly scope: EndpointScope;
  /** Null where no category of HL7 fits. */
  readonly category: Hl7Category | null;
  /** Our own category: the last part of the scope's name, such as `heart` or `symptoms`. */
  readonly ownCategory: string;
  /** Our own code; a weight is a weight, in whichever list. */
  readonly ownCode: string;
  /** Canonical address of the US Core profile that its resources conform to. */
  readonly profile: string | null;
  /** LOINC codes of its resources. */
  readonly published: readonly string[];
  /** Further LOINC codes that the importer reads as this kind. */
  readonly accepted: readonly string[];
}

/** Prefix of the addresses of US Core profiles. */
export const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition/';

function toKind(key: ObservationKey, scope: EndpointScope, row: Row): ObservationKind {
  const [category, profile, published, accepted] = row;
  return {
    key,
    scope,
    category,
    ownCategory: ownCategoryOf(scope),
    ownCode: key === 'daily-weight' ? 'weight' : key,
    profile: profile && US_CORE + profile,
    published,
    accepted,
  };
}

/** Our own category for the data of a scope. */
export function ownCategoryOf(scope: EndpointScope): string {
  return scope.slice(scope.lastIndexOf(':') + 1);
}

/** Every kind of Observation, in the order of the scopes. */
export const OBSERVATION_KINDS: readonly ObservationKind[] = [
  ...METRICS.flatMap(({ key, category }) =>
    key === 'bp-diastolic' ? [] : toKind(key, scopeOfCategory(category), OF_METRICS[key]),
  ),
  ...Object.entries(OF_LISTS).map(([key, [scope, ...row]]) => toKind(key as ObservationKey, scope, row)),
];

/** The scopes of Observations in the order of their kinds. */
export const OBSERVATION_SCOPES: readonly EndpointScope[] = [
  ...new Set(OBSERVATION_KINDS.map(({ scope }) => scope)),
];

/** LOINC codes of the components of a blood pressure. */
export const BLOOD_PRESSURE_COMPONENTS = { 'blood-pressure': '8480-6', 'bp-diastolic': '8462-4' } as const;

/** Source of readings from clinical records. */
export const EHR_SOURCE = 'ehr';

/** Whether a reading of this kind and source has the published LOINC codes: a laboratory's glucose is not from a glucometer. */
export function hasLoinc(key: ObservationKey, source: string): boolean {
  return key !== 'glucose' || source !== EHR_SOURCE;
}

/** The code systems of this service, as paths below the base address: codes of Observations, and of their categories. */
export const OWN_SYSTEMS = { metric: 'CodeSystem/metric', category: 'CodeSystem/category' } as const;
