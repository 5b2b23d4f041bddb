import { OWN_CODES, SEVERITY_CODES, SNOMED } from '@phds/catalog/fhir/code-systems';
import {
  BLOOD_PRESSURE_COMPONENTS,
  hasLoinc,
  LOINC,
  OBSERVATION_CATEGORY,
  OBSERVATION_KINDS,
  type ObservationKey,
  type ObservationKind,
  OWN_SYSTEMS,
  UCUM,
} from '@phds/catalog/fhir/observation-kinds';
import { METRICS, type MetricKey } from '@phds/catalog/metrics';
import type { BloodType, Severity } from '@phds/catalog/wire-names';
import type { Stored } from '../record-kinds.ts';
import type { WeightEntry } from '../weights.ts';
import type { ReadingSpan } from './reading-spans.ts';

/** A resource besides its data: its id, and the id of its Patient. */
export interface Identity {
  readonly id: string;
  readonly patientId: string;
}

/** The JSON texts of Observations. */
export interface ObservationTexts {
  ofReading(identity: Identity, reading: ReadingSpan): string;
  /** One of the two may be missing. */
  ofBloodPressure(identity: Identity, halves: Halves): string;
  ofWeight(identity: Identity, entry: WeightEntry): string;
  ofSymptom(identity: Identity, symptom: Stored<'symptom'>): string;
  ofMood(identity: Identity, entry: Stored<'moodEntry'>): string;
  ofBloodType(identity: Identity, bloodType: BloodType): string;
}

/** The readings of a blood pressure: those of the same times and source. */
export type Halves = { readonly [Type in keyof typeof BLOOD_PRESSURE_COMPONENTS]?: ReadingSpan };

// A page of Observations is as hot as a page of readings: what all Observations of a kind have in common is encoded once.

/** `base` is the address of the interface. */
export function createObservationTexts(base: string): ObservationTexts {
  const heads = new Map(OBSERVATION_KINDS.map((kind) => [kind.key, toHead(kind, base, true)]));
  const withoutLoinc = new Map(OBSERVATION_KINDS.map((kind) => [kind.key, toHead(kind, base, false)]));
  /** Up to the value, which has to follow. */
  const begin = ({ id, patientId }: Identity, key: ObservationKey, source = '') => {
    const head = (hasLoinc(key, source) ? heads : withoutLoinc).get(key);
    return `{"resourceType":"Observation","id":"${id}"${head}${patientId}"}`;
  };
  return {
    ofReading: (identity, reading) =>
      `${begin(identity, reading.metric as ObservationKey, reading.source)}${timesOf(reading)}${resultOf(reading)}${sourceOf(reading)}}`,
    ofBloodPressure: (identity, halves) => {
      const known = halves['blood-pressure'] ?? halves['bp-diastolic'];
      if (known === undefined) throw new RangeError('A blood pressure has at least one half.');
      const components = COMPONENTS.map(([type, start]) => `${start}${resultOf(halves[type], type)}}`);
      return `${begin(identity, 'blood-pressure')}${timesOf(known)}${sourceOf(known)},"component":[${components}]}`;
    },
    ofWeight: (identity, { date, weightKg }) =>
      `${begin(identity, 'daily-weight')},"effectiveDateTime":"${date}"${quantityOf('weight', weightKg)}}`,
    ofSymptom: (identity, { description, severity, occurredAt }) => {
      const component = severity && [{ code: SEVERITY, valueCodeableConcept: severityOf(severity) }];
      const rest = component ? `,"component":${JSON.stringify(component)}` : '';
      return `${begin(identity, 'symptom')}${timeOf(occurredAt)},"valueString":${JSON.stringify(description)}${rest}}`;
    },
    ofMood: (identity, { mood, note, occurredAt }) => {
      const rest = note === null ? '' : `,"note":[{"text":${JSON.stringify(note)}}]`;
      return `${begin(identity, 'mood')}${timeOf(occurredAt)},"valueString":"${mood}"${rest}}`;
    },
    ofBloodType: (identity, bloodType) =>
      `${begin(identity, 'blood-type')},"valueCodeableConcept":{"text":"${bloodType}"}}`,
  };
}

/** What follows the id, up to the id of the Patient. */
function toHead(kind: ObservationKind, base: string, withLoinc: boolean): string {
  const { profile, category, ownCategory, ownCode, published } = kind;
  const own = codeableOf(`${base}/${OWN_SYSTEMS.category}`, ownCategory);
  const loinc = withLoinc ? published.map((code) => ({ system: LOINC, code })) : [];
  const text = JSON.stringify({
    ...(profile === null ? {} : { meta: { profile: [profile] } }),
    status: 'final',
    category: category === null ? [own] : [codeableOf(OBSERVATION_CATEGORY, category), own],
    code: {
      coding: [...loinc, { system: `${base}/${OWN_SYSTEMS.metric}`, code: ownCode }],
      text: OWN_CODES.get(ownCode),
    },
  });
  return `,${text.slice(1, -1)},"subject":{"reference":"Patient/`;
}

const UNITS: ReadonlyMap<MetricKey, string> = new Map(
  METRICS.map(({ key, unit }) => [key, `,${JSON.stringify({ unit, system: UCUM, code: unit }).slice(1)}`]),
);

function quantityOf(metric: MetricKey, value: number): string {
  return `,"valueQuantity":{"value":${value}${UNITS.get(metric)}`;
}

const ABSENT = `,"dataAbsentReason":${JSON.stringify(
  codeableOf('http://terminology.hl7.org/CodeSystem/data-absent-reason', 'unknown'),
)}`;

function resultOf(reading: ReadingSpan | undefined, metric = reading?.metric): string {
  const value = reading?.value ?? null;
  return value === null || metric === undefined ? ABSENT : quantityOf(metric, value);
}

const COMPONENTS = (['blood-pressure', 'bp-diastolic'] as const).map((type) => {
  const text = type === 'blood-pressure' ? 'Systolic blood pressure' : 'Diastolic blood pressure';
  const code = { ...codeableOf(LOINC, BLOOD_PRESSURE_COMPONENTS[type]), text };
  return [type, `{"code":${JSON.stringify(code)}`] as const;
});

function timesOf({ timestamp, endTimestamp }: ReadingSpan): string {
  return endTimestamp === null
    ? `,"effectiveDateTime":"${timestamp}"`
    : `,"effectivePeriod":{"start":"${timestamp}","end":"${endTimestamp}"}`;
}

function timeOf(at: Date): string {
  return `,"effectiveDateTime":"${at.toISOString()}"`;
}

function sourceOf({ source }: ReadingSpan): string {
  return `,"device":{"display":${JSON.stringify(source)}}`;
}

// Parts of resources that several types share.

/** A CodeableConcept of one code. */
export function codeableOf(system: string, code: string, display?: string) {
  return { coding: [display === undefined ? { system, code } : { system, code, display }] };
}

/** The attribute whose values are severities. */
const SEVERITY = codeableOf(SNOMED, '246112005', 'Severity');

const SEVERITIES = {
  mild: codeableOf(SNOMED, SEVERITY_CODES.mild, 'Mild'),
  moderate: codeableOf(SNOMED, SEVERITY_CODES.moderate, 'Moderate'),
  severe: codeableOf(SNOMED, SEVERITY_CODES.severe, 'Severe'),
};

export function severityOf(severity: Severity) {
  return SEVERITIES[severity];
}

/** In place of a value that is required, or asked for, and not known. */
export const UNKNOWN = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};
