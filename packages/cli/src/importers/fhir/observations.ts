import {
  BLOOD_PRESSURE_COMPONENTS,
  EHR_SOURCE,
  OBSERVATION_KINDS,
} from '@phds/catalog/fhir/observation-kinds';
import { METRICS, type MetricName } from '@phds/catalog/metrics';
import { BLOOD_TYPES, type BloodType } from '@phds/catalog/wire-names';
import { parseTime } from '../ingest/dates.ts';
import { Refused } from '../ingest/importer.ts';
import { codesOf, conceptText, LOINC, ucumCodeOf, valueText } from './concepts.ts';
import { mapEhrRecord } from './ehr-summaries.ts';
import { at, isObject, type JsonObject, listAt, numberAt, textAt } from './json-values.ts';
import type { BloodFacts, MappingContext, Outcome } from './outcome.ts';

function codesOfKind(key: string): string[] {
  const kinds = OBSERVATION_KINDS.filter((kind) => kind.key === key);
  return kinds.flatMap(({ published, accepted }) => [...published, ...accepted]);
}

const BLOOD_PRESSURES: Readonly<Record<string, string>> = BLOOD_PRESSURE_COMPONENTS;

/**
 * The metric type that a LOINC code measures in a clinical record, of those with one in the catalog's table. Each code belongs to one
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

/** The times of readings, in Unix milliseconds. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

/**
 * Maps an Observation. One with a code of the catalog becomes a reading; a panel becomes one reading for each component. Any other
 * (laboratory, survey, …) becomes an EHR record; one with a blood group also updates the profile.
 */
export function mapObservation(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const codes = codesOf(at(resource, 'code'), LOINC);
  if (codes.some((code) => READING_PANELS.has(code))) return mapPanel(context);
  const metric = findMetric(codes);
  if (metric !== null) return [toReading(resource, metric, parseInterval(context))];
  const facts = findBloodFacts(codes, resource);
  const blood: Outcome[] = facts === null ? [] : [{ kind: 'blood', facts }];
  return [...blood, ...mapEhrRecord(context)];
}

function mapPanel(context: MappingContext): readonly Outcome[] {
  const { resource: panel } = context;
  const interval = parseInterval(context);
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

function toReading(holder: JsonObject, type: MetricName, interval: Interval): Outcome {
  const quantity = at(holder, 'valueQuantity');
  const value = numberAt(quantity, 'value');
  if (value === null) throw new Refused('value is not a quantity');
  if (textAt(quantity, 'comparator') !== '') throw new Refused('value is only a bound, such as <5');
  // The unit is a display text with free spelling.
  const unit = ucumCodeOf(quantity) || textAt(quantity, 'unit');
  if (unit === '') throw new Refused('value has no unit');
  if (type === 'HRV' && isRmssd(holder)) throw new Refused('HRV is RMSSD, not SDNN');
  return { kind: 'reading', reading: { ...interval, type, value, unit, source: EHR_SOURCE } };
}

/** RMSSD and SDNN are different quantities with the same name; the code means SDNN. */
function isRmssd(holder: JsonObject): boolean {
  return /rmssd/i.test(`${conceptText(at(holder, 'code'))} ${conceptText(at(holder, 'method'))}`);
}

function parseInterval({ resource, timeZone }: MappingContext): Interval {
  const toMs = (moment: string) => parseTime('date', moment, timeZone);
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
