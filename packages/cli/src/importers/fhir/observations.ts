import type { MetricName } from '@phds/catalog/metrics';
import { Refused } from '../ingest/refused.ts';
import { findBloodFacts } from './blood-types.ts';
import { codesOf, conceptText, LOINC } from './concepts.ts';
import { parseMoment } from './dates.ts';
import { mapEhrRecord } from './ehr-summaries.ts';
import { at, isObject, type JsonObject, listAt, numberAt, textAt } from './json-values.ts';
import { METRIC_OF_LOINC, READING_PANELS } from './metric-codes.ts';
import { EHR_SOURCE, type MappingContext, type Outcome } from './outcome.ts';

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
