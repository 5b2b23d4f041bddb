import { describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { loinc, observation, snomed } from '@phds/test-kit/bundle-files';
import { METRIC_OF_LOINC } from '../../src/importers/fhir/observations.ts';
import { map, reasonOf, recordOf } from './mapping.ts';

function readingsOf(resource: object) {
  return map(resource).map((outcome) => (outcome.kind === 'reading' ? outcome.reading : outcome));
}

describe('an observation with a code of the metric table', () => {
  test('becomes a reading with the unit of its UCUM code', () => {
    expect(readingsOf(observation('1', '29463-7', 72.5, 'kg'))).toEqual([
      {
        type: 'Weight',
        start: Date.parse('2019-05-04T08:00:00Z'),
        end: Date.parse('2019-05-04T08:00:00Z'),
        value: 72.5,
        unit: 'kg',
        source: 'ehr',
      },
    ]);
  });

  test.each([
    ['8867-4', 'Heart Rate'],
    ['40443-4', 'Resting HR'],
    ['80404-7', 'HRV'],
    ['8480-6', 'Blood Pressure'],
    ['8462-4', 'BP Diastolic'],
    ['59408-5', 'SPO2'],
    ['2708-6', 'SPO2'],
    ['9279-1', 'Respiratory'],
    ['41653-7', 'Glucose'],
    ['2339-0', 'Glucose'],
    ['2345-7', 'Glucose'],
    ['99504-3', 'Glucose'],
    ['15074-8', 'Glucose'],
    ['8310-5', 'Temperature'],
    ['8331-1', 'Temperature'],
    ['55423-8', 'Steps'],
    ['41950-7', 'Steps'],
    ['93832-4', 'Sleep'],
    ['29463-7', 'Weight'],
    ['3141-9', 'Weight'],
    ['8302-2', 'Height'],
    ['39156-5', 'BMI'],
    ['41982-0', 'Body Fat'],
  ])('%s is %s', (code, type) => {
    expect(readingsOf(observation('1', code, 1, 'u'))).toMatchObject([{ type }]);
  });

  test('the table accepts every code that the catalog publishes', () => {
    const missing = METRICS.filter(({ loinc: code }) => code !== null && !METRIC_OF_LOINC.has(code));
    expect(missing).toEqual([]);
  });

  test('is recognised among other codings of the same concept', () => {
    const code = { coding: [{ system: 'urn:local', code: 'HR' }, ...loinc('8867-4', 'Heart rate').coding] };
    expect(readingsOf(observation('1', '0', 61, '/min', { code }))).toMatchObject([{ type: 'Heart Rate' }]);
  });

  test('is not recognised by a code of another system that looks like LOINC', () => {
    const code = { coding: [{ system: 'urn:local', code: '8867-4', display: 'Something' }] };
    expect(recordOf(observation('1', '0', 61, '/min', { code }))).toMatchObject({
      summary: 'Something: 61 any spelling',
    });
  });

  test('keeps the interval of a period', () => {
    const effectivePeriod = { start: '2019-05-04T22:00:00Z', end: '2019-05-05T06:00:00Z' };
    const sleep = observation('1', '93832-4', 450, 'min', { effectiveDateTime: undefined, effectivePeriod });
    expect(readingsOf(sleep)).toMatchObject([
      { start: Date.parse('2019-05-04T22:00:00Z'), end: Date.parse('2019-05-05T06:00:00Z') },
    ]);
  });

  test('with a date without time counts from midnight UTC', () => {
    const dated = observation('1', '29463-7', 70, 'kg', { effectiveDateTime: '2019-05-04' });
    expect(readingsOf(dated)).toMatchObject([{ start: Date.parse('2019-05-04T00:00:00Z') }]);
  });

  test.each<[string, object]>([
    ['entered in error', { status: 'entered-in-error' }],
    ['was cancelled', { status: 'cancelled' }],
    ['date is missing', { effectiveDateTime: undefined }],
    ['date is too coarse for a reading', { effectiveDateTime: '2019-05' }],
    ['date is not a FHIR date', { effectiveDateTime: 'last May' }],
    ['date is not in the calendar', { effectiveDateTime: '2019-02-30' }],
    ['time has no offset', { effectiveDateTime: '2019-05-04T10:00:00' }],
    ['value is not a quantity', { valueQuantity: undefined, valueString: 'high' }],
    ['value is only a bound, such as <5', { valueQuantity: { value: 10, comparator: '<', code: 'kg' } }],
    ['value has no unit', { valueQuantity: { value: 10 } }],
    ['period has no start', { effectiveDateTime: undefined, effectivePeriod: { end: '2019-05-04' } }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(observation('1', '29463-7', 70, 'kg', change))).toBe(reason);
  });

  test('HRV is refused if the text says that it is RMSSD', () => {
    const code = { ...loinc('80404-7', 'HRV'), text: 'HRV (RMSSD)' };
    expect(reasonOf(observation('1', '80404-7', 40, 'ms', { code }))).toBe('HRV is RMSSD, not SDNN');
  });
});

describe('a blood-pressure panel', () => {
  const component = (code: string, value: number) => ({
    code: loinc(code, code),
    valueQuantity: { value, code: 'mm[Hg]' },
  });

  test.each(['85354-9', '55284-4'])('%s yields two readings with the same time and source', (code) => {
    const panel = observation('1', code, 0, '', {
      valueQuantity: undefined,
      component: [component('8462-4', 71), component('8480-6', 118)],
    });
    const at = {
      start: Date.parse('2019-05-04T08:00:00Z'),
      end: Date.parse('2019-05-04T08:00:00Z'),
      source: 'ehr',
      unit: 'mm[Hg]',
    };
    expect(readingsOf(panel)).toEqual([
      { type: 'BP Diastolic', value: 71, ...at },
      { type: 'Blood Pressure', value: 118, ...at },
    ]);
  });

  test('a component without a value does not affect the other', () => {
    const component2 = { code: loinc('8480-6', ''), dataAbsentReason: { text: 'not measured' } };
    const panel = observation('1', '85354-9', 0, '', { component: [component('8462-4', 71), component2] });
    expect(readingsOf(panel)).toMatchObject([
      { type: 'BP Diastolic', value: 71 },
      { kind: 'refused', reason: 'value is not a quantity' },
    ]);
  });

  test('without components only groups others, or is refused', () => {
    const panel = observation('1', '85354-9', 0, '');
    expect(reasonOf(panel)).toBe('panel has no component that is a reading');
    expect(map({ ...panel, hasMember: [{ reference: 'Observation/2' }] })).toEqual([
      { kind: 'left-out', reason: 'only groups other observations' },
    ]);
  });
});

describe('any other observation', () => {
  const laboratory = (change: object) =>
    observation('a1c', '4548-4', 0, '', {
      code: { text: 'Hemoglobin A1c' },
      valueQuantity: undefined,
      ...change,
    });

  test.each<[string, object]>([
    ['Hemoglobin A1c: 5.9 %', { valueQuantity: { value: 5.9, unit: '%', code: '%' } }],
    ['Hemoglobin A1c: 1.025 %', { valueQuantity: { value: 1.025, unit: '%' } }],
    ['Hemoglobin A1c: 251432.6 /uL', { valueQuantity: { value: 251432.57, unit: '/uL' } }],
    ['Hemoglobin A1c: 168.8 cm', { valueQuantity: { value: 168.80253764416227, unit: 'cm' } }],
    ['Hemoglobin A1c: <4 %', { valueQuantity: { value: 4, comparator: '<', unit: '%' } }],
    ['Hemoglobin A1c: 3', { valueQuantity: { value: 3, unit: '{score}', code: '{score}' } }],
    ['Hemoglobin A1c: Never smoker', { valueCodeableConcept: snomed('266919005', 'Never smoker') }],
    ['Hemoglobin A1c: yes', { valueBoolean: true }],
    ['Hemoglobin A1c: 7', { valueInteger: 7 }],
    ['Hemoglobin A1c: 1–3 mg', { valueRange: { low: { value: 1 }, high: { value: 3, unit: 'mg' } } }],
    ['Hemoglobin A1c: 1 / 64', { valueRatio: { numerator: { value: 1 }, denominator: { value: 64 } } }],
    ['Hemoglobin A1c: no value', { dataAbsentReason: { text: 'unknown' } }],
    [
      'Hemoglobin A1c: 5.9 %; interpretation: High',
      { valueQuantity: { value: 5.9, unit: '%' }, interpretation: [{ text: 'High' }] },
    ],
    [
      'Hemoglobin A1c: a 1 mg, b text',
      {
        component: [
          { code: { text: 'a' }, valueQuantity: { value: 1, unit: 'mg' } },
          { code: { text: 'b' }, valueString: '<p>text</p>\n' },
        ],
      },
    ],
  ])('becomes an EHR record: %s', (summary, change) => {
    expect(recordOf(laboratory(change))).toMatchObject({ resourceType: 'Observation', summary });
  });

  test('has the id of the resource as key and `ehr` as source', () => {
    expect(map(laboratory({ valueString: 'x' }))).toMatchObject([
      { record: { key: 'Observation/a1c', source: 'ehr', label: 'ehr-record Observation' } },
    ]);
  });

  test('is truncated at 500 characters without splitting a character', () => {
    const summaryOf = (valueString: string) =>
      (recordOf(laboratory({ valueString })) as { summary: string }).summary.replace('Hemoglobin A1c: ', '');
    expect(summaryOf('x'.repeat(484))).toBe('x'.repeat(484));
    expect(summaryOf('x'.repeat(485))).toBe(`${'x'.repeat(483)}…`);
    // The limit is between the two halves of the last character.
    expect(summaryOf(`${'x'.repeat(482)}😀😀`)).toBe(`${'x'.repeat(482)}…`);
  });
});

describe('a blood group', () => {
  const blood = (code: string, text: string) =>
    observation('b', code, 0, '', { valueQuantity: undefined, valueCodeableConcept: { text } });

  test.each([
    ['882-1', 'A Rh(D) positive', { group: 'A', rhesus: '+' }],
    ['882-1', 'O neg', { group: 'O', rhesus: '-' }],
    ['882-1', 'AB+', { group: 'AB', rhesus: '+' }],
    ['883-9', 'Group B', { group: 'B' }],
    ['883-9', 'Blood group A', { group: 'A' }],
    ['10331-7', 'Positive', { rhesus: '+' }],
  ])('%s "%s" updates the profile and remains an EHR record', (code, text, facts) => {
    expect(map(blood(code, text))).toMatchObject([{ kind: 'blood', facts }, { kind: 'record' }]);
  });

  test.each([
    ['883-9', 'not determined'],
    ['10331-7', 'indeterminate'],
  ])('%s "%s" does not update the profile', (code, text) => {
    expect(map(blood(code, text))).toMatchObject([{ kind: 'record' }]);
  });
});
