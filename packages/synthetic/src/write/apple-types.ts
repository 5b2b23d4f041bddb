import type { MetricName } from '@phds/catalog/metrics';
import type { Source } from '../reading.ts';

/** The names and units of a type in Apple Health. */
export interface AppleType {
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
export const APPLE_TYPES: Readonly<Partial<Record<MetricName, AppleType>>> = {
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
export interface AppleDevice {
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
export const APPLE_DEVICES: Readonly<Record<Source, AppleDevice>> = {
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
