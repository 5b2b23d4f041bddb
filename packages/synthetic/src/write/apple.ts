import { readFileSync } from 'node:fs';
import type { MetricName } from '@phds/catalog/metrics';
import { HOUR_MS, MINUTE_MS, offsetAt, SECOND_MS } from '../calendar.ts';
import type { Bout } from '../day.ts';
import { type Profile, zoneOn } from '../person.ts';
import type { Source, SyntheticReading } from '../reading.ts';
import type { Timeline } from '../timeline.ts';
import { TOPICS, type Topic } from '../topics.ts';

/** The DTD at the start of an export, limited to the elements used here. */
const APPLE_DTD = readFileSync(new URL('apple.dtd', import.meta.url), 'utf8');

/** Returns a formatter of instants as in exports, `2026-03-01 07:15:00 +0100`. All use the offset at the time of the export. */
function createAppleDates(offset: number): (instant: number) => string {
  const minutes = Math.abs(offset) / MINUTE_MS;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  const zone = `${offset < 0 ? '-' : '+'}${hours}${rest}`;
  return (instant) => `${new Date(instant + offset).toISOString().slice(0, 19).replace('T', ' ')} ${zone}`;
}

/** The names and units of a type in Apple Health. */
interface AppleType {
  readonly identifier: string;
  /** Empty for categories, which have a word as value. */
  readonly unit: string;
  /** Converts a value from the unit of the type. */
  readonly toValue: (value: number) => string;
  /** Whether the time zone is included as metadata. */
  readonly hasTimeZone: boolean;
}

function quantity(name: string, unit: string, divisor = 1): AppleType {
  return {
    identifier: `HKQuantityTypeIdentifier${name}`,
    unit,
    toValue: (value) => String(value / divisor),
    hasTimeZone: false,
  };
}

function category(name: string, value: string): AppleType {
  return {
    identifier: `HKCategoryTypeIdentifier${name}`,
    unit: '',
    toValue: () => value,
    hasTimeZone: true,
  };
}

function sleep(stage: string): AppleType {
  return category('SleepAnalysis', `HKCategoryValueSleepAnalysis${stage}`);
}

/** The types in export.xml. ECGs are separate files. */
const APPLE_TYPES: Readonly<Partial<Record<MetricName, AppleType>>> = {
  'Heart Rate': quantity('HeartRate', 'count/min'),
  'Resting HR': quantity('RestingHeartRate', 'count/min'),
  'Walking HR': quantity('WalkingHeartRateAverage', 'count/min'),
  HRV: quantity('HeartRateVariabilitySDNN', 'ms'),
  'Blood Pressure': quantity('BloodPressureSystolic', 'mmHg'),
  'BP Diastolic': quantity('BloodPressureDiastolic', 'mmHg'),
  SPO2: quantity('OxygenSaturation', '%', 100),
  'Respiratory Rate': quantity('RespiratoryRate', 'count/min'),
  Respiratory: quantity('RespiratoryRate', 'count/min'),
  Glucose: quantity('BloodGlucose', 'mg/dL'),
  Temperature: quantity('BodyTemperature', 'degC'),
  Steps: quantity('StepCount', 'count'),
  Distance: quantity('DistanceWalkingRunning', 'km', 1000),
  Calories: quantity('ActiveEnergyBurned', 'kcal'),
  'Basal Calories': quantity('BasalEnergyBurned', 'kcal'),
  Exercise: quantity('AppleExerciseTime', 'min'),
  Flights: quantity('FlightsClimbed', 'count'),
  Sleep: sleep('AsleepUnspecified'),
  'Sleep Deep': sleep('AsleepDeep'),
  'Sleep Core': sleep('AsleepCore'),
  'Sleep REM': sleep('AsleepREM'),
  'Sleep Awake': sleep('Awake'),
  'Time in Bed': sleep('InBed'),
  Weight: quantity('BodyMass', 'kg'),
  Height: quantity('Height', 'cm'),
  BMI: quantity('BodyMassIndex', 'count'),
  'Body Fat': quantity('BodyFatPercentage', '%', 100),
  Mindfulness: category('MindfulSession', 'HKCategoryValueNotApplicable'),
};

/** How a device identifies itself in records. `owner` is replaced by the first name of the owner. */
interface AppleDevice {
  readonly sourceName: string;
  readonly sourceVersion: string;
  /** Empty for records without a device. */
  readonly device: string;
  readonly isTypedIn?: true;
}

function hardware(name: string, manufacturer: string, model: string, version: string, software: string) {
  return `<<HKDevice: 0x3012772a0>, name:${name}, manufacturer:${manufacturer}, model:${model}, hardware:${version}, software:${software}>`;
}

/** By the stored source label. */
const APPLE_DEVICES: Readonly<Record<Source, AppleDevice>> = {
  'apple-watch': {
    sourceName: 'owner’s Apple\u00a0Watch',
    sourceVersion: '11.3',
    device: hardware('Apple Watch', 'Apple Inc.', 'Watch', 'Watch7,4', '11.3'),
  },
  iphone: {
    sourceName: 'owner’s iPhone',
    sourceVersion: '18.3',
    device: hardware('iPhone', 'Apple Inc.', 'iPhone', 'iPhone16,2', '18.3'),
  },
  manual: { sourceName: 'Health', sourceVersion: '18.3', device: '', isTypedIn: true },
  withings: {
    sourceName: 'Withings',
    sourceVersion: '7020301',
    device: hardware('Withings', 'Withings', 'Body', 'Body+', '2711'),
  },
  omron: {
    sourceName: 'OMRON connect',
    sourceVersion: '7.2.1',
    device: hardware('BP7350', 'OMRON', 'BP7350', '1', '1.2'),
  },
  dexcom: {
    sourceName: 'Dexcom',
    sourceVersion: '2.4.0',
    device: hardware('Dexcom G7', 'Dexcom', 'G7', '1', '2.4'),
  },
  ihealth: {
    sourceName: 'iHealth MyVitals',
    sourceVersion: '4.12',
    device: hardware('iHealth', 'iHealth', 'PT3', '1', '1.9'),
  },
  headspace: { sourceName: 'Headspace', sourceVersion: '352', device: '' },
};

/** The topics that export.xml can contain. */
export const APPLE_TOPICS = TOPICS.filter(({ types }) =>
  types.every((type) => APPLE_TYPES[type] !== undefined),
);

/** Writes the `export.xml` that Apple Health would create from a timeline on the evening after its last day. */
export function* writeAppleExport(timeline: Timeline): Generator<string> {
  const { person, until } = timeline;
  const exportedAt = until + 20 * HOUR_MS;
  const toDate = createAppleDates(offsetAt(exportedAt, zoneOn(person, timeline.lastDay + 1)));
  const writer = new RecordWriter(person.profile, toDate);
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${APPLE_DTD}<HealthData locale="en_DE">\n`;
  yield ` <ExportDate value="${toDate(exportedAt)}"/>\n${writeMe(person.profile)}`;
  for (const topic of timeline.topics) {
    for (const type of topic.types) yield* writeRecords(timeline, topic, type, writer);
  }
  yield* writeCorrelations(timeline, writer);
  yield* writeWorkouts(timeline, writer);
  yield '</HealthData>\n';
}

/** Exports are ordered by type. */
function* writeRecords(
  timeline: Timeline,
  topic: Topic,
  type: MetricName,
  writer: RecordWriter,
): Generator<string> {
  for (const { timeZone, readings } of timeline.batches([topic])) {
    for (const reading of readings) {
      if (reading.type === type) yield writer.record(reading, timeZone);
    }
  }
}

const PRESSURE_TOPICS = TOPICS.filter(({ types }) => types.includes('Blood Pressure'));

function* writeCorrelations(timeline: Timeline, writer: RecordWriter): Generator<string> {
  for (const { timeZone, readings } of timeline.batches(PRESSURE_TOPICS)) {
    for (const { type, start } of readings) {
      if (type !== 'Blood Pressure') continue;
      yield writer.correlation(
        readings.filter((each) => each.start === start),
        timeZone,
      );
    }
  }
}

function* writeWorkouts(timeline: Timeline, writer: RecordWriter): Generator<string> {
  for (const { bouts, timeZone } of timeline.days()) {
    for (const bout of bouts) {
      if (bout.kind === 'stroll' || bout.end > timeline.until) continue;
      yield writer.workout(bout.kind, bout, timeZone);
    }
  }
}

const SEXES = { male: 'Male', female: 'Female', other: 'Other', unknown: 'NotSet' } as const;

function writeMe(profile: Profile | null): string {
  const [, group = '', rhesus = ''] = /^([ABO]+)([+-])$/.exec(profile?.bloodType ?? '') ?? [];
  const sign = rhesus === '+' ? 'Positive' : 'Negative';
  const me = {
    DateOfBirth: profile?.dateOfBirth ?? '',
    BiologicalSex: `HKBiologicalSex${SEXES[profile?.gender ?? 'unknown']}`,
    BloodType: group === '' ? 'HKBloodTypeNotSet' : `HKBloodType${group}${sign}`,
    FitzpatrickSkinType: 'HKFitzpatrickSkinTypeNotSet',
    CardioFitnessMedicationsUse: 'None',
  };
  const attributes = Object.entries(me).map(
    ([name, value]) => `HKCharacteristicTypeIdentifier${name}="${value}"`,
  );
  return ` <Me ${attributes.join(' ')}/>\n`;
}

const WORKOUTS: Readonly<Record<Exclude<Bout['kind'], 'stroll'>, string>> = {
  run: 'Running',
  ride: 'Cycling',
  swim: 'Swimming',
  strength: 'TraditionalStrengthTraining',
  walk: 'Walking',
};

class RecordWriter {
  readonly #owner: string;
  readonly #toDate: (instant: number) => string;

  constructor(profile: Profile | null, toDate: (instant: number) => string) {
    this.#owner = profile?.name.split(' ')[0] ?? 'Somebody';
    this.#toDate = toDate;
  }

  /** Empty for a type that export.xml does not contain. */
  record({ type, start, end, value, source }: SyntheticReading, timeZone: string): string {
    const apple = APPLE_TYPES[type];
    if (apple === undefined) return '';
    const { identifier, unit } = apple;
    const units = unit === '' ? '' : ` unit="${unit}"`;
    const head = ` <Record type="${identifier}" ${this.#sign(source)}${units}`;
    const metadata = writeMetadata(type, apple, source, timeZone);
    return `${head} ${this.#dates(start, end)} value="${apple.toValue(value)}"${metadata === '' ? '/>\n' : `>\n${metadata} </Record>\n`}`;
  }

  /** A blood pressure: repeats its two records inside a correlation. */
  correlation(pair: readonly SyntheticReading[], timeZone: string): string {
    const [first] = pair;
    if (first === undefined) return '';
    const type = 'HKCorrelationTypeIdentifierBloodPressure';
    const head = ` <Correlation type="${type}" ${this.#sign(first.source)} ${this.#dates(first.start, first.end)}>\n`;
    const children = pair.map((reading) => ` ${this.record(reading, timeZone)}`);
    return `${head}${children.join('')} </Correlation>\n`;
  }

  workout(kind: keyof typeof WORKOUTS, { start, end }: Bout, timeZone: string): string {
    const minutes = (end - start) / MINUTE_MS;
    const head = ` <Workout workoutActivityType="HKWorkoutActivityType${WORKOUTS[kind]}" duration="${minutes}" durationUnit="min" ${this.#sign('apple-watch')} ${this.#dates(start, end)}>\n`;
    return `${head}${entry('HKTimeZone', timeZone)} </Workout>\n`;
  }

  /** The creation date is a little later than the end. */
  #dates(start: number, end: number): string {
    const created = end + (3 + (Math.floor(start / SECOND_MS) % 97)) * SECOND_MS;
    const [startDate, endDate] = [this.#toDate(start), this.#toDate(end)];
    return `creationDate="${this.#toDate(created)}" startDate="${startDate}" endDate="${endDate}"`;
  }

  #sign(source: Source): string {
    const { sourceName, sourceVersion, device } = APPLE_DEVICES[source];
    const name = toAttribute(sourceName.replace('owner', this.#owner));
    const hardware = device === '' ? '' : ` device="${toAttribute(device)}"`;
    return `sourceName="${name}" sourceVersion="${sourceVersion}"${hardware}`;
  }
}

function writeMetadata(type: MetricName, apple: AppleType, source: Source, timeZone: string): string {
  const zone = apple.hasTimeZone ? entry('HKTimeZone', timeZone) : '';
  const context = type === 'Heart Rate' ? entry('HKMetadataKeyHeartRateMotionContext', '0') : '';
  const typedIn = APPLE_DEVICES[source].isTypedIn === true ? entry('HKWasUserEntered', '1') : '';
  return zone + context + typedIn;
}

function entry(key: string, value: string): string {
  return `  <MetadataEntry key="${key}" value="${value}"/>\n`;
}

function toAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
