import type { MetricName } from '@phds/catalog/metrics';
import { BLOOD_TYPES, type BloodType } from '@phds/catalog/wire-names';
import { Refused } from '../ingest/importer.ts';
import { codesOf, conceptText, LOINC, valueText } from './concepts.ts';
import { parseMoment } from './dates.ts';
import { mapEhrRecord } from './ehr-summaries.ts';
import { at, isObject, type JsonObject, listAt, numberAt, textAt } from './json-values.ts';
import { type BloodFacts, EHR_SOURCE, type MappingContext, type Outcome } from './outcome.ts';

// The column "accepted on FHIR import" of metrics.md. 9279-1 maps to `Respiratory`: `Respiratory Rate` is measured by a device, but
// a clinical record is not.
const CODES: { readonly [Name in MetricName]?: readonly string[] } = {
  'Heart Rate': ['8867-4'],
  'Resting HR': ['40443-4'],
  HRV: ['80404-7'],
  'Blood Pressure': ['8480-6'],
  'BP Diastolic': ['8462-4'],
  SPO2: ['59408-5', '2708-6'],
  Respiratory: ['9279-1'],
  Glucose: ['41653-7', '2339-0', '2345-7', '99504-3', '15074-8'],
  Temperature: ['8310-5', '8331-1'],
  Steps: ['55423-8', '41950-7'],
  Calories: ['41981-2'],
  Flights: ['100304-5'],
  Sleep: ['93832-4'],
  'Sleep Deep': ['93831-6'],
  'Sleep Core': ['93830-8'],
  'Sleep REM': ['93829-0'],
  Weight: ['29463-7', '3141-9'],
  Height: ['8302-2'],
  BMI: ['39156-5'],
  'Body Fat': ['41982-0'],
};

/** The metric type that a LOINC code measures in a clinical record. Each code belongs to one type. */
export const METRIC_OF_LOINC: ReadonlyMap<string, MetricName> = new Map(
  Object.entries(CODES).flatMap(([name, codes]) => codes.map((code) => [code, name as MetricName] as const)),
);

/** Panels whose components are readings with a common time and source. */
const READING_PANELS: ReadonlySet<string> = new Set(['85354-9', '55284-4']);

// LOINC: ABO group (883-9), ABO and Rh group (882-1), Rh (10331-7).
const GROUP_CODES: ReadonlySet<string> = new Set(['883-9', '882-1']);
const RHESUS_CODE = '10331-7';

const GROUP = /(?:^|\b(?:group|type)\s+)(AB|A|B|O)(?=$|[\s+,(-])/i;
const POSITIVE = /\+|\bpos(?:itive)?\b/i;
const NEGATIVE = /-|−|\bneg(?:ative)?\b/i;

/** The part of a blood type that an observation states; null if there is none that can be parsed. */
function findBloodFacts(codes: readonly string[], observation: JsonObject): BloodFacts | null {
  const statesGroup = codes.some((code) => GROUP_CODES.has(code));
  if (!statesGroup && !codes.includes(RHESUS_CODE)) return null;
  const text = valueText(observation);
  const group = statesGroup ? GROUP.exec(text)?.[1]?.toUpperCase() : undefined;
  const rhesus = findRhesus(text);
  if (group === undefined && rhesus === undefined) return null;
  return { ...(group === undefined ? {} : { group }), ...(rhesus === undefined ? {} : { rhesus }) };
}

function findRhesus(text: string): '+' | '-' | undefined {
  const [positive, negative] = [POSITIVE.test(text), NEGATIVE.test(text)];
  if (positive === negative) return undefined;
  return positive ? '+' : '-';
}

/** Combines all statements to a blood type; null if a part is unknown or statements contradict each other. */
export function findBloodType(facts: readonly BloodFacts[]): BloodType | null {
  const groups = new Set(facts.flatMap(({ group }) => group ?? []));
  const factors = new Set(facts.flatMap(({ rhesus }) => rhesus ?? []));
  if (groups.size !== 1 || factors.size !== 1) return null;
  const name = [...groups, ...factors].join('');
  return BLOOD_TYPES.find((type) => type === name) ?? null;
}

/** Unix milliseconds. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

/**
 * Maps an Observation. One with a code of metrics.md becomes a reading; a panel becomes one reading for each component. Any other
 * (laboratory, survey, …) becomes an EHR record; one with a blood group also updates the profile.
 */
export function mapObservation(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const codes = codesOf(at(resource, 'code'), LOINC);
  if (codes.some((code) => READING_PANELS.has(code))) return mapPanel(resource);
  const metric = findMetric(codes);
  if (metric !== null) return [toReading(resource, metric, parseInterval(resource))];
  const facts = findBloodFacts(codes, resource);
  const blood: Outcome[] = facts === null ? [] : [{ kind: 'blood', facts }];
  return [...blood, ...mapEhrRecord(context)];
}

function mapPanel(panel: JsonObject): readonly Outcome[] {
  const interval = parseInterval(panel);
  const outcomes = listAt(panel, 'component').flatMap((component) => mapComponent(component, interval));
  // A panel may only group observations that are in the bundle separately.
  if (outcomes.length > 0) return outcomes;
  if (listAt(panel, 'hasMember').length > 0)
    return [{ kind: 'left-out', reason: 'only groups other observations' }];
  throw new Refused('panel has no component that is a reading');
}

function mapComponent(component: unknown, interval: Interval): readonly Outcome[] {
  if (!isObject(component)) return [];
  const metric = findMetric(codesOf(at(component, 'code'), LOINC));
  if (metric === null) return [];
  try {
    return [toReading(component, metric, interval)];
  } catch (error) {
    if (error instanceof Refused) return [{ kind: 'refused', reason: error.message }];
    throw error;
  }
}

function findMetric(codes: readonly string[]): MetricName | null {
  for (const code of codes) {
    const metric = METRIC_OF_LOINC.get(code);
    if (metric !== undefined) return metric;
  }
  return null;
}

function toReading(holder: JsonObject, type: MetricName, { start, end }: Interval): Outcome {
  const quantity = at(holder, 'valueQuantity');
  const value = numberAt(quantity, 'value');
  if (value === null) throw new Refused('value is not a quantity');
  if (textAt(quantity, 'comparator') !== '') throw new Refused('value is only a bound, such as <5');
  // The code is UCUM; the unit is a display text with free spelling.
  const unit = textAt(quantity, 'code') || textAt(quantity, 'unit');
  if (unit === '') throw new Refused('value has no unit');
  if (type === 'HRV' && isRmssd(holder)) throw new Refused('HRV is RMSSD, not SDNN');
  return { kind: 'reading', reading: { type, start, end, value, unit, source: EHR_SOURCE } };
}

/** RMSSD and SDNN are different quantities with the same name; the code means SDNN. */
function isRmssd(holder: JsonObject): boolean {
  return /rmssd/i.test(`${conceptText(at(holder, 'code'))} ${conceptText(at(holder, 'method'))}`);
}

function parseInterval(observation: JsonObject): Interval {
  const period = at(observation, 'effectivePeriod');
  if (period !== undefined) {
    const [start, end] = [textAt(period, 'start'), textAt(period, 'end')];
    if (start === '') throw new Refused('period has no start');
    return { start: toMs(start), end: toMs(end === '' ? start : end) };
  }
  const moment = textAt(observation, 'effectiveDateTime') || textAt(observation, 'effectiveInstant');
  if (moment === '') throw new Refused('date is missing');
  return { start: toMs(moment), end: toMs(moment) };
}

function toMs(moment: string): number {
  return parseMoment(moment).getTime();
}
