import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  BLOOD_PRESSURE_COMPONENTS,
  EHR_SOURCE,
  OBSERVATION_KINDS,
} from '@phds/catalog/fhir/observation-kinds';
import { METRICS, type MetricName } from '@phds/catalog/metrics';
import { BLOOD_TYPES, type BloodType } from '@phds/catalog/wire-names';
import { Refused } from '../ingest/importer.ts';
import { severityOfConcept } from './clinical-resources.ts';
import { codesOf, conceptText, LOINC, valueText } from './concepts.ts';
import { parseMoment } from './dates.ts';
import { mapEhrRecord } from './ehr-summaries.ts';
import { at, isObject, type JsonObject, listAt, numberAt, textAt } from './json-values.ts';
import { type BloodFacts, type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import { ownCodeOf, wholeTextAt } from './own-resources.ts';

const NAMES: ReadonlyMap<string, MetricName> = new Map(METRICS.map(({ key, name }) => [key, name]));

function codesOfKind(key: string): string[] {
  const kinds = OBSERVATION_KINDS.filter((kind) => kind.key === key);
  return kinds.flatMap(({ published, accepted }) => [...published, ...accepted]);
}

const BLOOD_PRESSURES: Readonly<Record<string, string>> = BLOOD_PRESSURE_COMPONENTS;

/**
 * The metric type that a LOINC code measures in a clinical record, of those with one in the table of metrics.md. Each code belongs to one
 * type: 9279-1 to `Respiratory`, because `Respiratory Rate` is measured by a device.
 */
export const METRIC_OF_LOINC: ReadonlyMap<string, MetricName> = new Map(
  METRICS.filter(({ key, loinc }) => loinc !== null && key !== 'respiratory-rate').flatMap(({ key, name }) =>
    [BLOOD_PRESSURES[key] ?? codesOfKind(key)].flat().map((code) => [code, name] as const),
  ),
);

/** Panels whose components are readings with a common time and source. */
const READING_PANELS: ReadonlySet<string> = new Set(codesOfKind('blood-pressure'));

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

/** The times of readings, in Unix milliseconds, and their source. */
interface Basis {
  readonly start: number;
  readonly end: number;
  readonly source: string;
}

/**
 * Maps an Observation. Our own code says what it was made from. Otherwise one with a code of the catalog becomes a reading; a panel
 * becomes one reading for each component. Any other (laboratory, survey, …) becomes an EHR record; one with a blood group also updates
 * the profile.
 */
export function mapObservation(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const own = ownCodeOf(at(resource, 'code'));
  if (own === 'symptom') return [toSymptom(context)];
  if (own === 'mood') return [toMoodEntry(context)];
  const codes = codesOf(at(resource, 'code'), LOINC);
  if (own === 'blood-pressure' || codes.some((code) => READING_PANELS.has(code)))
    return mapPanel(context, own !== '');
  const metric = NAMES.get(own) ?? findMetric(codes);
  if (metric !== null) return [toReading(resource, metric, basisOf(context, own !== ''))];
  const facts = findBloodFacts(codes, resource);
  const blood: Outcome[] = facts === null ? [] : [{ kind: 'blood', facts }];
  return own === 'blood-type' ? blood : [...blood, ...mapEhrRecord(context)];
}

function toSymptom(context: MappingContext): Outcome {
  const { resource } = context;
  const value = {
    description: wholeTextAt(resource, 'valueString'),
    severity: severityOfConcept(at(resource, 'component', 0, 'valueCodeableConcept')),
    timestamp: timestampFromMs(parseInterval(context).start),
  };
  return toHealthRecord(context, 'symptom', { case: 'symptom', value });
}

function toMoodEntry(context: MappingContext): Outcome {
  const { resource } = context;
  const value = {
    mood: textAt(resource, 'valueString'),
    note: wholeTextAt(resource, 'note', 0, 'text'),
    timestamp: timestampFromMs(parseInterval(context).start),
  };
  return toHealthRecord(context, 'mood', { case: 'moodEntry', value });
}

/** `isOwn` is for a panel of ours, in which one of the two readings may never have been there. */
function mapPanel(context: MappingContext, isOwn: boolean): readonly Outcome[] {
  const { resource: panel } = context;
  const basis = basisOf(context, isOwn);
  const outcomes = listAt(panel, 'component')
    .filter((component) => !isOwn || at(component, 'dataAbsentReason') === undefined)
    .flatMap((component) => mapComponent(component, basis));
  // A panel may only group observations that are in the bundle separately.
  if (outcomes.length > 0) return outcomes;
  if (listAt(panel, 'hasMember').length > 0)
    return [{ kind: 'left-out', reason: 'only groups other observations' }];
  throw new Refused('panel has no component that is a reading');
}

function mapComponent(component: unknown, basis: Basis): readonly Outcome[] {
  if (!isObject(component)) return [];
  const metric = findMetric(codesOf(at(component, 'code'), LOINC));
  if (metric === null) return [];
  try {
    return [toReading(component, metric, basis)];
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

function toReading(holder: JsonObject, type: MetricName, basis: Basis): Outcome {
  const quantity = at(holder, 'valueQuantity');
  const value = numberAt(quantity, 'value');
  // Only our own code names an ECG, which may have no heart rate.
  if (value === null && type === 'ECG')
    return { kind: 'reading', reading: { ...basis, type, value, unit: '/min' } };
  if (value === null) throw new Refused('value is not a quantity');
  if (textAt(quantity, 'comparator') !== '') throw new Refused('value is only a bound, such as <5');
  // The code is UCUM; the unit is a display text with free spelling.
  const unit = textAt(quantity, 'code') || textAt(quantity, 'unit');
  if (unit === '') throw new Refused('value has no unit');
  if (type === 'HRV' && isRmssd(holder)) throw new Refused('HRV is RMSSD, not SDNN');
  return { kind: 'reading', reading: { ...basis, type, value, unit } };
}

/** RMSSD and SDNN are different quantities with the same name; the code means SDNN. */
function isRmssd(holder: JsonObject): boolean {
  return /rmssd/i.test(`${conceptText(at(holder, 'code'))} ${conceptText(at(holder, 'method'))}`);
}

function basisOf(context: MappingContext, isOwn: boolean): Basis {
  const source = isOwn ? textAt(context.resource, 'device', 'display') : '';
  return { ...parseInterval(context), source: source || EHR_SOURCE };
}

function parseInterval({ resource, timeZone }: MappingContext): Omit<Basis, 'source'> {
  const toMs = (moment: string) => parseMoment(moment, timeZone).getTime();
  const period = at(resource, 'effectivePeriod');
  if (period !== undefined) {
    const [start, end] = [textAt(period, 'start'), textAt(period, 'end')];
    if (start === '') throw new Refused('period has no start');
    return { start: toMs(start), end: toMs(end === '' ? start : end) };
  }
  const moment = textAt(resource, 'effectiveDateTime') || textAt(resource, 'effectiveInstant');
  if (moment === '') throw new Refused('date is missing');
  return { start: toMs(moment), end: toMs(moment) };
}
