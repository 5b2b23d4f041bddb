import { METRICS, type Metric, type MetricName } from '@phds/catalog/metrics';
import { formatInstant } from '../calendar.ts';
import type { SyntheticReading } from '../reading.ts';
import type { Timeline } from '../timeline.ts';

const metrics = new Map<MetricName, Metric>(METRICS.map((metric) => [metric.name, metric]));

const PANEL = '85354-9';

/**
 * Whether a clinical record contains a reading: its type has a LOINC code of its own, and if two devices measure the same quantity,
 * it is the watch's. Device-measured and manually counted breaths share a code; only the latter are included.
 */
export function isInFhir({ type, source }: SyntheticReading): boolean {
  if (type === 'Respiratory Rate' || (type === 'Steps' && source === 'iphone')) return false;
  return (metrics.get(type)?.loinc ?? null) !== null;
}

/** Converts the readings to Observations. A blood pressure is one Observation with two components. */
export function* toObservations(timeline: Timeline): Generator<object> {
  for (const { readings, timeZone } of timeline.batches()) {
    for (const reading of readings) {
      if (!isInFhir(reading) || reading.type === 'BP Diastolic') continue;
      const { type, start, value } = reading;
      const content =
        type === 'Blood Pressure'
          ? toPanel(readings.filter((each) => each.start === start))
          : { code: codeOf(type), valueQuantity: toQuantity(type, value) };
      yield { ...toBasis(reading, timeline.person.id, timeZone), ...content };
    }
  }
}

function toBasis({ type, start, end }: SyntheticReading, patient: string, timeZone: string): object {
  const key = metrics.get(type)?.key ?? '';
  const from = formatInstant(start, timeZone);
  return {
    resourceType: 'Observation',
    id: `${key}-${start / 1000}${end === start ? '' : `-${end / 1000}`}`,
    status: 'final',
    subject: { reference: `Patient/${patient}` },
    ...(end === start
      ? { effectiveDateTime: from }
      : { effectivePeriod: { start: from, end: formatInstant(end, timeZone) } }),
  };
}

function toPanel(pair: readonly SyntheticReading[]): object {
  const component = pair.map(({ type, value }) => ({
    code: codeOf(type),
    valueQuantity: toQuantity(type, value),
  }));
  return { code: toCode(PANEL, 'Blood pressure panel'), component };
}

function codeOf(type: MetricName): object {
  return toCode(metrics.get(type)?.loinc ?? '', type);
}

function toCode(code: string, text: string): object {
  return { coding: [{ system: 'http://loinc.org', code }], text };
}

function toQuantity(type: MetricName, value: number): object {
  const unit = metrics.get(type)?.unit ?? '';
  return { value, unit, system: 'http://unitsofmeasure.org', code: unit };
}
