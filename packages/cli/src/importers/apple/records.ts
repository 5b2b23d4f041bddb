import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MetricName } from '@phds/catalog/metrics';
import {
  findSleepMetric,
  findSymptom,
  MINDFUL_SESSION,
  SLEEP_ANALYSIS,
  severityOfSymptom,
} from './category-types.ts';
import { parseExportDate } from './export-dates.ts';
import type { ExportElement } from './export-element.ts';
import { leftOut, type Outcome, refused } from './outcome.ts';
import { findQuantityMetric, metricByHand } from './quantity-types.ts';
import { MANUAL, type SourceLabels } from './source-labels.ts';
import { typeNameOf } from './type-names.ts';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const MINUTE_MS = 60_000;
const NOT_MEASURED_HERE = 'no metric type for it';

/** Maps a `Record`: a quantity, a category sample (sleep, mindfulness, a symptom), or an unsupported type. */
export function mapRecord(element: ExportElement, labels: SourceLabels): Outcome {
  const type = element.attributes['type'] ?? '';
  const metric = findQuantityMetric(type);
  if (metric !== null) return mapQuantity(element, metric, labels);
  if (type === SLEEP_ANALYSIS) return mapSleep(element, labels);
  if (type === MINDFUL_SESSION) return mapMinutes(element, 'Mindfulness', labels);
  const symptom = findSymptom(type);
  if (symptom !== null) return mapSymptom(element, type, symptom, labels);
  return type === '' ? refused('Record', 'type is missing') : leftOut(typeNameOf(type), NOT_MEASURED_HERE);
}

function mapQuantity(element: ExportElement, metric: MetricName, labels: SourceLabels): Outcome {
  const { unit = '', value = '' } = element.attributes;
  const type = element.wasUserEntered ? metricByHand(metric) : metric;
  if (!NUMBER.test(value)) return refused(type, value === '' ? 'value is missing' : 'value is not a number');
  if (unit === '') return refused(type, 'unit is missing');
  return toReading(element, type, () => ({ value: Number(value), unit }), labels);
}

function mapSleep(element: ExportElement, labels: SourceLabels): Outcome {
  const metric = findSleepMetric(element.attributes['value'] ?? '');
  return metric === null
    ? refused(typeNameOf(SLEEP_ANALYSIS), 'value is none of sleep analysis')
    : mapMinutes(element, metric, labels);
}

/** A sample whose duration is the value. */
function mapMinutes(element: ExportElement, metric: MetricName, labels: SourceLabels): Outcome {
  const measure = (start: number, end: number) => ({ value: (end - start) / MINUTE_MS, unit: 'min' });
  return toReading(element, metric, measure, labels);
}

type Measure = (start: number, end: number) => { readonly value: number; readonly unit: string };

function toReading(
  element: ExportElement,
  type: MetricName,
  measure: Measure,
  labels: SourceLabels,
): Outcome {
  const interval = parseInterval(element);
  if (typeof interval === 'string') return refused(type, interval);
  const { start, end } = interval;
  const { value, unit } = measure(start, end);
  return { kind: 'reading', reading: { type, start, end, value, unit, source: sourceOf(element, labels) } };
}

function mapSymptom(
  element: ExportElement,
  type: string,
  description: string,
  labels: SourceLabels,
): Outcome {
  const severity = severityOfSymptom(element.attributes['value'] ?? '');
  if (severity === null) return refused(typeNameOf(type), 'value is none of a symptom');
  if (severity === 'absent') return leftOut(typeNameOf(type), 'states that the symptom was absent');
  const interval = parseInterval(element);
  if (typeof interval === 'string') return refused(typeNameOf(type), interval);
  const { start, end } = interval;
  const value = { description, severity, timestamp: timestampFromMs(start) };
  const key = `${typeNameOf(type)}/${start}/${end}`;
  const source = sourceOf(element, labels);
  return { kind: 'record', record: { label: 'symptom', key, source, record: { case: 'symptom', value } } };
}

interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Start and end of a sample, or why they are invalid. */
function parseInterval({ attributes }: ExportElement): Interval | string {
  const { startDate = '', endDate = '' } = attributes;
  const start = parseExportDate(startDate);
  if (Number.isNaN(start)) return startDate === '' ? 'startDate is missing' : 'startDate is not a date';
  const end = endDate === startDate ? start : parseExportDate(endDate);
  if (Number.isNaN(end)) return endDate === '' ? 'endDate is missing' : 'endDate is not a date';
  return end < start ? 'end is before start' : { start, end };
}

function sourceOf({ attributes, wasUserEntered }: ExportElement, labels: SourceLabels): string {
  if (wasUserEntered) return MANUAL;
  const { sourceName = '', sourceVersion = '', device = '' } = attributes;
  return labels.labelOf({ sourceName, sourceVersion, device });
}
