import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MetricName } from '@phds/catalog/metrics';
import { BLOOD_TYPES, type BloodType, type Gender, type Severity } from '@phds/catalog/wire-names';
import { findInstant, isCalendarDate } from '../ingest/dates.ts';
import type { ImportedProfile, ImportedReading, Outcome } from '../ingest/importer.ts';
import type { ExportElement } from './export-parser.ts';
import { APPLE_HEALTH, APPLE_WATCH, MANUAL, type SourceLabels } from './source-labels.ts';

function leftOut(type: string, reason: string): Outcome {
  return { kind: 'left-out', type, reason };
}

export function refused(type: string, reason: string): Outcome {
  return { kind: 'refused', type, reason };
}

const PREFIX = /^HK(?:Quantity|Category|Data|Correlation|Document)?Type(?:Identifier)?/;

/** The name of a HealthKit type or element in the report: without its prefix, or `other` if it is not a valid name. */
function typeNameOf(identifier: string): string {
  const name = identifier.replace(PREFIX, '');
  return /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'other';
}

const SLEEP_VALUES: Readonly<Record<string, MetricName>> = {
  Asleep: 'Sleep',
  AsleepUnspecified: 'Sleep',
  AsleepDeep: 'Sleep Deep',
  AsleepCore: 'Sleep Core',
  AsleepREM: 'Sleep REM',
  Awake: 'Sleep Awake',
  InBed: 'Time in Bed',
};

const CATEGORY = 'HKCategoryTypeIdentifier';
const SLEEP_ANALYSIS = `${CATEGORY}SleepAnalysis`;
const MINDFUL_SESSION = `${CATEGORY}MindfulSession`;

// HealthKit, "Symptoms": every category type that reports a symptom.
const SYMPTOMS: ReadonlySet<string> = new Set(
  (
    'AbdominalCramps Acne AppetiteChanges BladderIncontinence Bloating BreastPain ChestTightnessOrPain Chills ' +
    'Constipation Coughing Diarrhea Dizziness DrySkin Fainting Fatigue Fever GeneralizedBodyAche HairLoss ' +
    'Headache Heartburn HotFlashes LossOfSmell LossOfTaste LowerBackPain MemoryLapse MoodChanges Nausea ' +
    'NightSweats PelvicPain RapidPoundingOrFlutteringHeartbeat RunnyNose ShortnessOfBreath SinusCongestion ' +
    'SkippedHeartbeat SleepChanges SoreThroat VaginalDryness Vomiting Wheezing'
  ).split(' '),
);

/** The name under which a symptom is stored: the words of its type, with two exceptions. */
function nameOfSymptom(type: string): string {
  if (type === 'GeneralizedBodyAche') return 'Body ache';
  if (type === 'RapidPoundingOrFlutteringHeartbeat') return 'Rapid, pounding or fluttering heartbeat';
  return type.replaceAll(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The severity that a symptom sample reports: empty if unspecified. */
const SEVERITY_OF_VALUE: ReadonlyMap<string, Severity | '' | 'absent'> = new Map([
  ['HKCategoryValueSeverityMild', 'mild'],
  ['HKCategoryValueSeverityModerate', 'moderate'],
  ['HKCategoryValueSeveritySevere', 'severe'],
  ['HKCategoryValueSeverityUnspecified', ''],
  ['HKCategoryValuePresencePresent', ''],
  ['HKCategoryValueAppetiteChangesUnspecified', ''],
  ['HKCategoryValueAppetiteChangesDecreased', ''],
  ['HKCategoryValueAppetiteChangesIncreased', ''],
  ['HKCategoryValueSeverityNotPresent', 'absent'],
  ['HKCategoryValuePresenceNotPresent', 'absent'],
  ['HKCategoryValueAppetiteChangesNoChange', 'absent'],
]);

// The metric types of HealthKit's quantities.
const QUANTITIES: Readonly<Record<string, MetricName>> = {
  HeartRate: 'Heart Rate',
  RestingHeartRate: 'Resting HR',
  WalkingHeartRateAverage: 'Walking HR',
  HeartRateVariabilitySDNN: 'HRV',
  BloodPressureSystolic: 'Blood Pressure',
  BloodPressureDiastolic: 'BP Diastolic',
  OxygenSaturation: 'SPO2',
  RespiratoryRate: 'Respiratory Rate',
  BloodGlucose: 'Glucose',
  BodyTemperature: 'Temperature',
  StepCount: 'Steps',
  DistanceWalkingRunning: 'Distance',
  ActiveEnergyBurned: 'Calories',
  BasalEnergyBurned: 'Basal Calories',
  AppleExerciseTime: 'Exercise',
  FlightsClimbed: 'Flights',
  BodyMass: 'Weight',
  Height: 'Height',
  BodyMassIndex: 'BMI',
  BodyFatPercentage: 'Body Fat',
};

/** The entry of a table for an identifier that begins with this prefix; null for others. */
function findNamed<Value>(table: Readonly<Record<string, Value>>, prefix: string, identifier: string) {
  const name = identifier.startsWith(prefix) ? identifier.slice(prefix.length) : '';
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

/** The metric type of a manual entry, which may differ: only a device measures a `Respiratory Rate`. */
function metricByHand(metric: MetricName): MetricName {
  return metric === 'Respiratory Rate' ? 'Respiratory' : metric;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const MINUTE_MS = 60_000;
const NOT_MEASURED_HERE = 'no metric type for it';

/** Maps a `Record`: a quantity, a category sample (sleep, mindfulness, a symptom), or an unsupported type. */
function mapRecord(element: ExportElement, labels: SourceLabels): Outcome {
  const type = element.attributes['type'] ?? '';
  const metric = findNamed(QUANTITIES, 'HKQuantityTypeIdentifier', type);
  if (metric !== null) return mapQuantity(element, metric, labels);
  if (type === SLEEP_ANALYSIS) return mapSleep(element, labels);
  if (type === MINDFUL_SESSION) return mapMinutes(element, 'Mindfulness', labels);
  if (type.startsWith(CATEGORY) && SYMPTOMS.has(type.slice(CATEGORY.length)))
    return mapSymptom(element, type.slice(CATEGORY.length), labels);
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
  const metric = findNamed(SLEEP_VALUES, 'HKCategoryValueSleepAnalysis', element.attributes['value'] ?? '');
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

function mapSymptom(element: ExportElement, type: string, labels: SourceLabels): Outcome {
  const severity = SEVERITY_OF_VALUE.get(element.attributes['value'] ?? '');
  if (severity === undefined) return refused(type, 'value is none of a symptom');
  if (severity === 'absent') return leftOut(type, 'states that the symptom was absent');
  const interval = parseInterval(element);
  if (typeof interval === 'string') return refused(type, interval);
  const { start, end } = interval;
  const value = { description: nameOfSymptom(type), severity, timestamp: timestampFromMs(start) };
  const key = `${type}/${start}/${end}`;
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
  const start = findInstant(startDate);
  if (Number.isNaN(start)) return startDate === '' ? 'startDate is missing' : 'startDate is not a date';
  const end = endDate === startDate ? start : findInstant(endDate);
  if (Number.isNaN(end)) return endDate === '' ? 'endDate is missing' : 'endDate is not a date';
  return end < start ? 'end is before start' : { start, end };
}

function sourceOf({ attributes, wasUserEntered }: ExportElement, labels: SourceLabels): string {
  if (wasUserEntered) return MANUAL;
  const { sourceName = '', sourceVersion = '', device = '' } = attributes;
  return labels.labelOf({ sourceName, sourceVersion, device });
}

const CHARACTERISTIC_PREFIX = 'HKCharacteristicTypeIdentifier';

const GENDER_OF_SEX: ReadonlyMap<string, Gender> = new Map([
  ['HKBiologicalSexFemale', 'female'],
  ['HKBiologicalSexMale', 'male'],
  ['HKBiologicalSexOther', 'other'],
]);

/** `HKBloodTypeABNegative` is AB-. */
function bloodTypeOf(text: string): BloodType | undefined {
  const name = text.replace('HKBloodType', '').replace('Positive', '+').replace('Negative', '-');
  return BLOOD_TYPES.find((known) => known === name);
}

/** Maps `Me` to date of birth, sex and blood type of the profile. Fields that are not set remain unchanged. */
function mapMe({ attributes }: ExportElement): readonly Outcome[] {
  const birth = attributes[`${CHARACTERISTIC_PREFIX}DateOfBirth`] ?? '';
  const gender = GENDER_OF_SEX.get(attributes[`${CHARACTERISTIC_PREFIX}BiologicalSex`] ?? '');
  const bloodType = bloodTypeOf(attributes[`${CHARACTERISTIC_PREFIX}BloodType`] ?? '');
  const isDate = isCalendarDate(birth);
  const facts: ImportedProfile = {
    ...(gender === undefined ? {} : { gender }),
    ...(isDate ? { dateOfBirth: birth } : {}),
    ...(bloodType === undefined ? {} : { bloodType }),
  };
  const problem = birth === '' || isDate ? [] : [refused('Me', 'date of birth is not a date')];
  if (Object.keys(facts).length > 0) return [{ kind: 'profile', facts }, ...problem];
  return problem.length > 0 ? problem : [leftOut('Me', 'nothing is set in it')];
}

// Why some elements other than records are skipped on purpose.
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['ExportDate', 'about the export itself'],
  ['Correlation', 'its parts are separate records in the file'],
  ['Workout', 'its energy, distance and heart rates are separate records in the file'],
  ['ActivitySummary', 'daily totals follow from the records'],
  ['ClinicalRecord', 'its content is in a file of the archive'],
]);

/** Maps an element below `HealthData`. */
export function mapElement(element: ExportElement, labels: SourceLabels): readonly Outcome[] {
  const { name, attributes, problem } = element;
  if (problem !== '') return [refused(typeNameOf(attributes['type'] ?? name), problem)];
  if (element.name === 'Record') return [mapRecord(element, labels)];
  if (element.name === 'Me') return mapMe(element);
  return [leftOut(typeNameOf(element.name), LEFT_OUT.get(element.name) ?? 'no metric type for it')];
}

/** Bytes read of a recording: the header in front of thirty seconds of voltages. */
export const ECG_HEADER_BYTES = 16 * 1024;

const TYPE = 'ECG';
const MAX_HEADER_LINES = 40;
const SAMPLE = /^-?\d+([.,]\d+)?$/;
const HEART_RATE = /^(\d{1,3}(?:[.,]\d+)?) ?(?:bpm|count\/min|beats\/min)$/i;
const WATCH = /^(?:apple )?watch/i;

/**
 * Reads the header of a recording: its time, device, and sometimes the average heart rate; without one the reading has no value.
 * Captions are in the phone's language, so values are recognised by their format. The person's name and date of birth in the header
 * are ignored.
 */
export function mapEcg(head: string): Outcome {
  const values = headerValues(head);
  const start = values.map(findInstant).find((moment) => !Number.isNaN(moment));
  if (start === undefined) return refused(TYPE, 'no date of recording');
  const rate = values.map((value) => HEART_RATE.exec(value)?.[1]).find((text) => text !== undefined);
  const reading: ImportedReading = {
    type: TYPE,
    start,
    end: start,
    value: rate === undefined ? null : Number(rate.replace(',', '.')),
    unit: '/min',
    source: values.some((value) => WATCH.test(value)) ? APPLE_WATCH : APPLE_HEALTH,
  };
  return { kind: 'reading', reading };
}

function headerValues(head: string): string[] {
  const lines = head.split(/\r?\n/, MAX_HEADER_LINES);
  const samples = lines.findIndex((line) => SAMPLE.test(line.trim()));
  return lines
    .slice(0, samples === -1 ? lines.length : samples)
    .map((line) =>
      line
        .slice(line.indexOf(',') + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1'),
    )
    .filter((value) => value !== '');
}
