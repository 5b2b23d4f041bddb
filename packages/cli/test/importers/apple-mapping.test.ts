import { describe, expect, test } from '@jest/globals';
import { device, element, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { ExportParser } from '../../src/importers/apple/export-parser.ts';
import { mapEcg, mapElement } from '../../src/importers/apple/records.ts';
import { SourceLabels } from '../../src/importers/apple/source-labels.ts';
import { findInstant } from '../../src/importers/ingest/dates.ts';
import type { Outcome } from '../../src/importers/ingest/importer.ts';

/** The outcomes of one element. */
function map(xml: string): readonly Outcome[] {
  const parser = new ExportParser();
  const [parsed] = parser.write(Buffer.from(`<HealthData>${xml}</HealthData>`));
  if (parsed === undefined) throw new TypeError('no element');
  return mapElement(parsed, new SourceLabels());
}

const quantity = (name: string, value: string, unit: string) =>
  recordXml({ type: `HKQuantityTypeIdentifier${name}`, value, unit });
const category = (name: string, value: string | null, more = {}) =>
  recordXml({ type: `HKCategoryTypeIdentifier${name}`, value, unit: null, ...more });

describe('a quantity', () => {
  test.each([
    ['HeartRate', '72', 'count/min', 'Heart Rate'],
    ['RestingHeartRate', '58', 'count/min', 'Resting HR'],
    ['WalkingHeartRateAverage', '92', 'count/min', 'Walking HR'],
    ['HeartRateVariabilitySDNN', '42.3154', 'ms', 'HRV'],
    ['BloodPressureSystolic', '120', 'mmHg', 'Blood Pressure'],
    ['BloodPressureDiastolic', '80', 'mmHg', 'BP Diastolic'],
    ['OxygenSaturation', '0.97', '%', 'SPO2'],
    ['RespiratoryRate', '15.5', 'count/min', 'Respiratory Rate'],
    ['BloodGlucose', '5.4', 'mmol<180.1558800000541>/L', 'Glucose'],
    ['BodyTemperature', '98.6', 'degF', 'Temperature'],
    ['StepCount', '329', 'count', 'Steps'],
    ['DistanceWalkingRunning', '0.00288', 'km', 'Distance'],
    ['ActiveEnergyBurned', '1.5e-2', 'kJ', 'Calories'],
    ['BasalEnergyBurned', '.5', 'Cal', 'Basal Calories'],
    ['AppleExerciseTime', '1', 'min', 'Exercise'],
    ['FlightsClimbed', '3', 'count', 'Flights'],
    ['BodyMass', '154.3', 'lb', 'Weight'],
    ['Height', '5.9', 'ft', 'Height'],
    ['BodyMassIndex', '22.5312', 'count', 'BMI'],
    ['BodyFatPercentage', '0.18', '%', 'Body Fat'],
  ])('%s becomes a reading with unchanged number and unit', (name, value, unit, type) => {
    expect(map(quantity(name, value, unit))).toEqual([
      {
        kind: 'reading',
        reading: {
          type,
          start: Date.UTC(2024, 0, 5, 9, 0),
          end: Date.UTC(2024, 0, 5, 9, 2),
          value: Number(value),
          unit,
          source: 'apple-watch',
        },
      },
    ]);
  });

  test.each(['', 'NaN', 'Infinity', '1e', '0x10', '1,5', ' 7', '--1', '1e400000x'])(
    '%j is not a number',
    (value) => {
      const reason = value === '' ? 'value is missing' : 'value is not a number';
      expect(map(quantity('HeartRate', value, 'count/min'))).toEqual([
        { kind: 'refused', type: 'Heart Rate', reason },
      ]);
    },
  );

  test('without a unit is refused, because it would count as the unit of the type', () => {
    expect(map(recordXml({ unit: null }))).toEqual([
      { kind: 'refused', type: 'Heart Rate', reason: 'unit is missing' },
    ]);
  });

  test('entered by hand is labelled manual, not by device', () => {
    const record = recordXml(
      { type: 'HKQuantityTypeIdentifierRespiratoryRate' },
      metadata('HKWasUserEntered', '1'),
    );
    expect(map(record)).toMatchObject([{ reading: { type: 'Respiratory', source: 'manual' } }]);
    expect(map(recordXml({}, metadata('HKWasUserEntered', '0')))).toMatchObject([
      { reading: { source: 'apple-watch' } },
    ]);
  });

  test('of an invented type is not quoted', () => {
    expect(map(recordXml({ type: '\u001b[31mDaniel' }))).toMatchObject([{ kind: 'left-out', type: 'other' }]);
    expect(map(recordXml({ type: 'x'.repeat(500) }))).toMatchObject([{ kind: 'left-out', type: 'other' }]);
    expect(map(recordXml({ type: 'HKDataTypeSleepDurationGoal' }))).toMatchObject([
      { type: 'SleepDurationGoal' },
    ]);
    expect(map(recordXml({ type: null }))).toEqual([
      { kind: 'refused', type: 'Record', reason: 'type is missing' },
    ]);
  });
});

describe('the time of a sample', () => {
  test.each([
    [{ startDate: null }, 'startDate is missing'],
    [{ endDate: null }, 'endDate is missing'],
    [{ startDate: '2024-01-05T10:00:00' }, 'startDate is not a date'],
    [{ startDate: '2024-02-30 10:00:00 +0100' }, 'startDate is not a date'],
    [{ endDate: 'tomorrow' }, 'endDate is not a date'],
    [{ startDate: '2024-01-05 11:00:00 +0100' }, 'end is before start'],
  ])('%j is refused', (attributes, reason) => {
    expect(map(recordXml(attributes))).toEqual([{ kind: 'refused', type: 'Heart Rate', reason }]);
  });
});

describe('a category sample', () => {
  test.each([
    ['Asleep', 'Sleep'],
    ['AsleepUnspecified', 'Sleep'],
    ['AsleepDeep', 'Sleep Deep'],
    ['AsleepCore', 'Sleep Core'],
    ['AsleepREM', 'Sleep REM'],
    ['Awake', 'Sleep Awake'],
    ['InBed', 'Time in Bed'],
  ])('of sleep, %s, counts its minutes', (value, type) => {
    const sample = category('SleepAnalysis', `HKCategoryValueSleepAnalysis${value}`, {
      endDate: '2024-01-05 10:12:30 +0100',
    });
    expect(map(sample)).toMatchObject([{ reading: { type, value: 12.5, unit: 'min' } }]);
  });

  test('of sleep with another value is refused', () => {
    for (const value of [null, '1', 'HKCategoryValueSleepAnalysisDreaming']) {
      expect(map(category('SleepAnalysis', value))).toEqual([
        { kind: 'refused', type: 'SleepAnalysis', reason: 'value is none of sleep analysis' },
      ]);
    }
  });

  test('of mindfulness counts its minutes', () => {
    expect(map(category('MindfulSession', null))).toMatchObject([
      { reading: { type: 'Mindfulness', value: 2, unit: 'min' } },
    ]);
  });

  test('of a symptom is a symptom', () => {
    expect(
      map(category('RunnyNose', 'HKCategoryValueSeverityModerate', { sourceName: 'Health' })),
    ).toMatchObject([
      {
        kind: 'record',
        record: {
          label: 'symptom',
          key: `RunnyNose/${Date.UTC(2024, 0, 5, 9, 0)}/${Date.UTC(2024, 0, 5, 9, 2)}`,
          source: 'apple-health',
          record: { case: 'symptom', value: { description: 'Runny nose', severity: 'moderate' } },
        },
      },
    ]);
    const named = (type: string) => map(category(type, 'HKCategoryValueSeverityMild'));
    expect(['ChestTightnessOrPain', 'GeneralizedBodyAche'].flatMap(named)).toMatchObject(
      ['Chest tightness or pain', 'Body ache'].map((description) => ({
        record: { record: { value: { description } } },
      })),
    );
    const unspecified = category('Headache', 'HKCategoryValueSeverityUnspecified');
    expect(map(unspecified)).toMatchObject([{ record: { record: { value: { severity: '' } } } }]);
  });

  test('of an absent symptom is skipped, with an invalid value refused', () => {
    expect(map(category('Fever', 'HKCategoryValueSeverityNotPresent'))).toMatchObject([
      { kind: 'left-out', type: 'Fever' },
    ]);
    expect(map(category('Fever', '39'))).toMatchObject([
      { kind: 'refused', reason: 'value is none of a symptom' },
    ]);
  });
});

describe('Me', () => {
  const me = (facts: Readonly<Record<string, string>>) =>
    element(
      'Me',
      Object.fromEntries(
        Object.entries(facts).map(([key, value]) => [`HKCharacteristicTypeIdentifier${key}`, value]),
      ),
    );

  test('yields date of birth, sex and blood type', () => {
    const facts = {
      DateOfBirth: '1990-05-20',
      BiologicalSex: 'HKBiologicalSexFemale',
      BloodType: 'HKBloodTypeABNegative',
    };
    expect(map(me(facts))).toEqual([
      { kind: 'profile', facts: { gender: 'female', dateOfBirth: '1990-05-20', bloodType: 'AB-' } },
    ]);
  });

  test('leaves unset fields unchanged', () => {
    const unset = { DateOfBirth: '', BiologicalSex: 'HKBiologicalSexNotSet', BloodType: 'HKBloodTypeNotSet' };
    expect(map(me({ ...unset, BiologicalSex: 'HKBiologicalSexOther' }))).toEqual([
      { kind: 'profile', facts: { gender: 'other' } },
    ]);
    expect(map(me(unset))).toMatchObject([{ kind: 'left-out', type: 'Me' }]);
  });

  test('refuses an invalid date of birth and keeps the rest', () => {
    for (const birth of ['1990-02-30', '20.05.1990', '1990-5-20']) {
      expect(map(me({ DateOfBirth: birth, BloodType: 'HKBloodTypeOPositive' }))).toEqual([
        { kind: 'profile', facts: { bloodType: 'O+' } },
        { kind: 'refused', type: 'Me', reason: 'date of birth is not a date' },
      ]);
    }
  });
});

const RECORDING = [
  'Name,Jo Doe',
  'Date of Birth,"1 Jan 1980"',
  'Recorded Date,2024-01-05 10:00:00 +0100',
  'Classification,Sinus Rhythm',
  'Symptoms,Rapid, pounding, or fluttering heartbeat,Fatigue',
  'Software Version,1.90',
  'Device,"Watch6,7"',
  'Sample Rate,512.213 hertz',
  '',
  '',
  'Lead,Lead I',
  'Unit,µV',
  '',
  '-32.061',
  '-30.875',
].join('\n');

const AT = Date.UTC(2024, 0, 5, 9, 0);

test('a recording is a reading without a value if the header has no heart rate', () => {
  expect(mapEcg(RECORDING)).toEqual({
    kind: 'reading',
    reading: { type: 'ECG', start: AT, end: AT, value: null, unit: '/min', source: 'apple-watch' },
  });
});

test('a heart rate in the header is used', () => {
  const line = (text: string) => RECORDING.replace('Symptoms,', `Average Heart Rate,${text}\nSymptoms,`);
  expect(mapEcg(line('64 bpm'))).toMatchObject({ reading: { value: 64 } });
  expect(mapEcg(line('"64,5 BPM"'))).toMatchObject({ reading: { value: 64.5 } });
  expect(mapEcg(line('fast'))).toMatchObject({ reading: { value: null } });
});

test('captions may be in any language, lines may end with CRLF, voltages may have commas', () => {
  const german = RECORDING.replace('Recorded Date', 'Aufzeichnungsdatum').replace('Device', 'Gerät');
  const lines = german.replace('-32.061', '-32,061').replaceAll('\n', '\r\n');
  expect(mapEcg(lines)).toEqual(mapEcg(RECORDING));
});

test.each([
  ['without a date', RECORDING.replace('2024-01-05', '2024-02-30')],
  ['with its date behind the voltages', `-1.5\n${RECORDING}`],
  ['of another kind', 'a;b\n1;2'],
  ['that is empty', ''],
])('a file %s is refused without quoting it', (_name, text) => {
  expect(mapEcg(text)).toEqual({ kind: 'refused', type: 'ECG', reason: 'no date of recording' });
});

const WATCH = device({
  name: 'Apple Watch',
  manufacturer: 'Apple Inc.',
  model: 'Watch',
  hardware: 'Watch6,7',
  software: '10.2',
});
const labelOf = (sourceName: string, from = '', labels = new SourceLabels()) =>
  labels.labelOf({ sourceName, sourceVersion: '', device: from });

describe('the label of a source', () => {
  test.each([
    ['Jo’s Apple\u00a0Watch', 'apple-watch'],
    ['Apple Watch von Jo', 'apple-watch'],
    ["Jo's iPhone", 'iphone'],
    ['Jo 的 iPhone 15 Pro', 'iphone'],
    ['Health Mate', 'withings'],
    ['Oura', 'oura'],
    ['Health', 'apple-health'],
    ['ヘルスケア', 'apple-health'],
    ['', 'apple-health'],
  ])('of %j is %s', (name, label) => {
    expect(labelOf(name)).toBe(label);
  });

  test('of a renamed device is that of the device', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Excalibur', sourceVersion: '10.2', device: WATCH });
    expect(labelOf('Excalibur', WATCH, labels)).toBe('apple-watch');
    // Sleep and similar records have no device.
    expect(labelOf('Excalibur', '', labels)).toBe('apple-watch');
  });

  test('of an app on a device differs from that of the device, because both would be summed otherwise', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Stepper', sourceVersion: '3.1', device: WATCH });
    expect(labelOf('Stepper', WATCH, labels)).toMatch(/^app-[0-9a-f]{3}$/);
  });

  test.each(['Scale for iPhone', 'Oximeter (iPad)', 'Band for Apple Watch', 'Case for AirPods'])(
    'of an app of a third-party device is not that of an Apple product: %s',
    (model) => {
      const labels = new SourceLabels();
      const scale = device({ name: 'Scale', model, hardware: model, software: '1.4' });
      labels.learn({ sourceName: 'Stepper', sourceVersion: '1.4', device: scale });
      expect(labelOf('Stepper', scale, labels)).toMatch(/^app-[0-9a-f]{3}$/);
    },
  );

  test('of a third-party device is its manufacturer', () => {
    const cuff = device({
      name: 'Jo in the kitchen',
      manufacturer: 'OMRON HEALTHCARE',
      model: 'BP, 7900',
      software: '1',
    });
    expect(labelOf('Kitchen', cuff)).toBe('omron');
  });

  test('is accepted by health-data for any name', () => {
    for (const name of ['\u0000', '💓', 'x'.repeat(10_000), '../../etc', '<script>', 'İPHONE', ' ']) {
      expect(labelOf(name)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  });
});

describe('a time of the export', () => {
  test.each([
    ['2019-07-19 10:36:11 -0700', '2019-07-19T17:36:11.000Z'],
    ['2024-02-29 23:59:59 +0545', '2024-02-29T18:14:59.000Z'],
    ['2000-02-29 00:00:00 +0000', '2000-02-29T00:00:00.000Z'],
    ['1869-12-31 23:30:00 -0100', '1870-01-01T00:30:00.000Z'],
    ['9999-12-31 23:59:59 +0000', '9999-12-31T23:59:59.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(new Date(findInstant(text)).toISOString()).toBe(instant);
  });

  test.each([
    '1900-02-29 00:00:00 +0000',
    '2023-02-29 00:00:00 +0000',
    '2024-13-01 00:00:00 +0000',
    '2024-01-01 24:00:00 +0000',
    '2024-01-01 00:00:00 +2400',
    '2024-01-01 00:00:00 ±0100',
    '2024-01-01 00:00:00 +01:0',
    '２024-01-01 00:00:00 +0100',
    '2024-01-01 1:07:11 PM -0400',
    '',
  ])('%j is none', (text) => {
    expect(findInstant(text)).toBeNaN();
  });
});
