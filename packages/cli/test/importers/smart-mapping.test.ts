import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { importTables } from './smart-tables.ts';

const person = {
  PID: '7',
  fname: 'Ada',
  initial: 'K',
  lname: 'Lovelace',
  gender: 'female',
  dob: '1815-12-10',
};
const moment = { start: '2007-04-18T13:32:00Z', end: '2007-04-18T13:32:00Z', source: 'ehr' };

describe('the tables of one patient', () => {
  test('yield the profile', async () => {
    const { profile } = await importTables({ patients: [person] });
    expect(profile).toEqual({ name: 'Ada K Lovelace', gender: 'female', dateOfBirth: '1815-12-10' });
  });

  test('yield a reading for every vital sign', async () => {
    const row = {
      ID: '1',
      PID: '7',
      TIMESTAMP: '2007-04-18T13:32:00',
      HEART_RATE: '60',
      RESPIRATORY_RATE: '18',
      TEMPERATURE: '36.88889',
      WEIGHT: '87',
      HEIGHT: '197.5',
      BMI: '22.3',
      SYSTOLIC: '121',
      DIASTOLIC: '62',
      OXYGEN_SATURATION: '98',
      HEAD_CIRCUMFERENCE: '51.2',
    };
    const { readings, records, refused } = await importTables({ vitals: [row] });
    expect(readings).toEqual([
      { type: 'Heart Rate', value: 60, unit: '/min', ...moment },
      { type: 'Respiratory', value: 18, unit: '/min', ...moment },
      { type: 'Temperature', value: 36.88889, unit: 'Cel', ...moment },
      { type: 'Weight', value: 87, unit: 'kg', ...moment },
      { type: 'Height', value: 197.5, unit: 'cm', ...moment },
      { type: 'BMI', value: 22.3, unit: 'kg/m2', ...moment },
      { type: 'Blood Pressure', value: 121, unit: 'mm[Hg]', ...moment },
      { type: 'BP Diastolic', value: 62, unit: 'mm[Hg]', ...moment },
      { type: 'SPO2', value: 98, unit: '%', ...moment },
    ]);
    expect(records).toMatchObject([
      {
        key: 'Observation/smart-7-1-9843-4',
        record: { value: { resourceType: 'Observation', summary: 'Head circumference: 51.2 cm' } },
      },
    ]);
    expect(refused).toEqual([]);
  });

  test.each([
    ['1998-02-19', '1998-02-19T00:00:00Z'],
    ['2007-04-18T13:32', '2007-04-18T13:32:00Z'],
    ['2014-08-04T04:20:00Z', '2014-08-04T04:20:00Z'],
  ])('accept the time %s', async (text, start) => {
    const { readings } = await importTables({ vitals: [{ PID: '7', TIMESTAMP: text, HEART_RATE: '60' }] });
    expect(readings).toMatchObject([{ start }]);
  });

  test('yield conditions and allergies', async () => {
    const { records, leftOut } = await importTables({
      problems: [
        { ID: '3', PID: '7', START_DATE: '2007-05-23', SNOMED: '195967001', NAME: '"Asthma, mild"' },
      ],
      allergies: [
        { ID: '1', PID: '7', STATEMENT: 'negative', ALLERGEN: 'No known allergies', START_DATE: '2000' },
        {
          ID: '2',
          PID: '7',
          STATEMENT: 'positive',
          ALLERGEN: 'peanut',
          START_DATE: '2000',
          SEVERITY: 'severe',
        },
      ],
    });
    expect(records).toEqual([
      {
        label: 'condition',
        key: 'Condition/smart-7-3',
        source: 'ehr',
        record: { case: 'condition', value: { name: 'Asthma, mild', severity: '', sinceDate: '2007-05-23' } },
      },
      {
        label: 'allergy',
        key: 'AllergyIntolerance/smart-7-2',
        source: 'ehr',
        record: { case: 'allergy', value: { name: 'peanut', severity: 'severe', sinceDate: '2000' } },
      },
    ]);
    expect(leftOut).toEqual(['allergies: states that there is no allergy']);
  });

  test.each([
    [
      {
        SIG: '1 bid',
        Q_TO_TAKE_VALUE: '1',
        Q_TO_TAKE_UNIT: '{tablet}',
        FREQUENCY_VALUE: '2',
        FREQUENCY_UNIT: '/d',
      },
      { dosage: '1 tablet', frequency: '2 times a day', pattern: 'BID' },
    ],
    [
      {
        SIG: '1 weekly',
        Q_TO_TAKE_VALUE: '1',
        Q_TO_TAKE_UNIT: '{tablet}',
        FREQUENCY_VALUE: '1',
        FREQUENCY_UNIT: '/wk',
      },
      { dosage: '1 tablet', frequency: 'once a week', pattern: 'WK' },
    ],
    [
      {
        SIG: '5 mL q6h prn cough',
        Q_TO_TAKE_VALUE: '5',
        Q_TO_TAKE_UNIT: 'mL',
        FREQUENCY_VALUE: '4',
        FREQUENCY_UNIT: '/d',
      },
      { dosage: '5 mL', frequency: '4 times a day as needed', pattern: 'PRN' },
    ],
    [{ SIG: '1 tab po qd' }, { dosage: '1 tab po qd', frequency: 'once a day', pattern: 'QD' }],
    [
      { SIG: '1 capsule qd-bid for pain' },
      { dosage: '1 capsule qd-bid for pain', frequency: '', pattern: '' },
    ],
    [{ SIG: 'taper as directed' }, { dosage: 'taper as directed', frequency: '', pattern: '' }],
    [{}, { dosage: '', frequency: '', pattern: '' }],
  ])('yield medications with dosage and rhythm: %j', async (row, expected) => {
    const { records } = await importTables({ meds: [{ ID: '1', PID: '7', Name: 'Medicine', ...row }] });
    expect(records).toMatchObject([
      {
        key: 'MedicationRequest/smart-7-1',
        record: { case: 'medication', value: { name: 'Medicine', ...expected } },
      },
    ]);
  });

  test('yield refills as dispensed medications, with the names of the medications', async () => {
    const { records } = await importTables({
      meds: [{ ID: '1', PID: '7', RxNorm: '308135', Name: 'Amlodipine 10 MG' }],
      refills: [
        { ID: '1', PID: '7', DATE: '2008-08-22', RXN: '308135', DAYS: '90', Q: '90' },
        { ID: '2', PID: '7', DATE: '2008-10-28', RXN: '197885', DAYS: '0', Q: '0' },
        { ID: '3', PID: '7', DATE: '2008-10-28', RXN: '', DAYS: '30', Q: '30' },
      ],
    });
    const dispensed = (summary: string, day: string) => ({
      case: 'ehrRecord',
      value: {
        resourceType: 'MedicationDispense',
        summary,
        timestamp: timestampFromMs(Date.parse(`${day}T00:00:00Z`)),
      },
    });
    expect(records.slice(1).map(({ record }) => record)).toEqual([
      dispensed('Amlodipine 10 MG; dispensed; 90; for 90 days', '2008-08-22'),
      dispensed('RxNorm 197885; dispensed', '2008-10-28'),
    ]);
  });

  test('count repetitions once, and refuse contradictions', async () => {
    const row = { PID: '7', TIMESTAMP: '2009-12-23T12:54:00' };
    const { readings, leftOut, refused } = await importTables({
      vitals: [
        { ...row, HEIGHT: '180' },
        { ...row, HEIGHT: '180' },
        { ...row, HEIGHT: '190' },
      ],
    });
    expect(readings).toMatchObject([{ type: 'Height', value: 180 }]);
    expect(leftOut).toEqual(['Height: stated twice in the file']);
    expect(refused).toEqual([
      'Height: an earlier item in the file has another value for the same time (vitals.txt line 4)',
    ]);
  });
});
